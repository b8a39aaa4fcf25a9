const inAddress = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d+\/)?d\/([\w-]+)(?:[/?#]|$)/;
/** Of what "File > Share > Publish to web" gives: the `e` in it is no id. */
const publishedAddress = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d+\/)?d\/e\//;

/** What is wrong with the name of a spreadsheet, or null: its id, or the address of it in a browser. */
export function spreadsheetMistake(written: string): string | null {
  if (publishedAddress.test(written)) {
    return 'must be the address that the browser shows while you work in the spreadsheet: this is a published copy';
  }
  return /^[\w-]+$/.test(written) || inAddress.test(written)
    ? null
    : 'must be the address of a spreadsheet, https://docs.google.com/spreadsheets/d/…, or the id in it';
}

/** The id of a spreadsheet that is named by id or by address. */
export function spreadsheetId(written: string): string {
  return inAddress.exec(written)?.[1] ?? written;
}

/** What is wrong with the name of a tab, or null. */
export function tabMistake(name: string): string | null {
  return name.trim() !== '' && name.length <= 100 && !/\p{Cc}/u.test(name)
    ? null
    : 'must be the name of a tab: 1 to 100 characters in one line';
}
