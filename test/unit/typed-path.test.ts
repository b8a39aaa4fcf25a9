import { expect, test } from 'vitest';
import { typedPath } from '../../src/setup/typed-path.ts';

test.each([
  ['./leads.xlsx', './leads.xlsx'],
  ['~/Sales/leads.xlsx', '/home/anna/Sales/leads.xlsx'],
  ['"/srv/My leads.xlsx"', '/srv/My leads.xlsx'],
  ["'/srv/My leads.xlsx' ", '/srv/My leads.xlsx'],
  ['/srv/My\\ leads\\ \\(2026\\).xlsx', '/srv/My leads (2026).xlsx'],
  ['file:///srv/My%20leads.xlsx', '/srv/My leads.xlsx'],
  ['C:\\Sales\\leads.xlsx', 'C:\\Sales\\leads.xlsx'],
])('%s', (written, meant) => expect(typedPath(written, '/home/anna')).toBe(meant));
