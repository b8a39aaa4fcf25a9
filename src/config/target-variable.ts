const forms = /^(google-sheets|hubspot|postgres-table)(?::(.*))?$/is;

/** What stands in variables of their own, because it is secret. */
interface TargetSecrets {
  readonly token: string | undefined;
  readonly url: string | undefined;
}

/**
 * TARGET as settings of leadsync.yaml: `google-sheets:SPREADSHEET_ID/TAB`, `hubspot` (or `hubspot:companies`),
 * `postgres-table:TABLE`, else a path.
 */
export function fromTargetVariable(value: string, secrets: TargetSecrets): Readonly<Record<string, unknown>> {
  const [, kind, rest = ''] = forms.exec(value) ?? [];
  const type = kind?.toLowerCase();
  if (type === 'google-sheets' && value.includes(':')) {
    const [, spreadsheet = '', tab = ''] = /^([^/]*)(?:\/(.*))?$/s.exec(rest) ?? [];
    return { type, spreadsheet, ...(tab === '' ? {} : { tab }) };
  }
  if (type === 'hubspot' && /^(companies)?$/i.test(rest)) return { type, token: secrets.token };
  if (type === 'postgres-table' && value.includes(':')) return { type, table: rest, url: secrets.url };
  return { type: 'workbook', path: value };
}
