import { existsSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Random } from '../../src/demo/random.ts';
import type { SheetsPerson } from '../stand-ins/google-sheets/person.ts';
import type { SheetsTable } from './sheets-table.ts';

/** For a while the table that is kept in step is another one, or there is none. */
export interface Elsewhere {
  readonly told: string;
  /** What a run may end with: codes of its problems. Of a table that is away it has to be one of them. */
  readonly codes: readonly string[];
  /** Whether a table was made where the one that is away was. */
  readonly isMadeAnew?: () => boolean;
  readonly back: () => void;
}

/** Its rows are first sights: those that differ from their leads, or would become some, are asked about. */
const otherTarget = ['guard.other-target'];

/** Another file becomes the table. */
export function switchFile(path: string, pointAt: (path: string) => void): Elsewhere {
  pointAt(join(dirname(path), `other-${basename(path)}`));
  return { told: 'switched to another file', codes: [], back: () => pointAt(path) };
}

/** A share that is not mounted. */
export function hideFile(path: string): Elsewhere {
  const away = `${path}.away`;
  renameSync(path, away);
  return {
    told: 'the file is away',
    codes: ['guard.target-gone'],
    isMadeAnew: () => existsSync(path),
    back: () => renameSync(away, path),
  };
}

/**
 * Another tab becomes the table: by the configuration, or because a copied tab takes the name of the first one, in which
 * people go on working. Null: there is no tab yet.
 */
export function switchTab(
  person: SheetsPerson,
  table: SheetsTable,
  random: Random,
  pointAt: (tab: string) => void,
): Elsewhere | null {
  const { tab } = table;
  if (person.grid(tab) === null) return null;
  if (random.below(2) === 0) {
    pointAt('Elsewhere');
    return { told: 'switched to another tab', codes: [], back: () => pointAt(tab) };
  }
  const original = `${tab} until today`;
  const hasRecords = random.below(2) === 0;
  person.renameTab(tab, original);
  person.duplicateTab(original, tab, hasRecords);
  table.tab = original;
  return {
    told: `a copied tab takes the name, ${hasRecords ? 'with' : 'without'} our records`,
    codes: otherTarget,
    back: () => {
      person.deleteTab(tab);
      person.renameTab(original, tab);
      table.tab = tab;
    },
  };
}

/** A tab that is renamed, trashed with its spreadsheet, or deleted and restored. Null: there is no tab yet. */
export function hideTab(person: SheetsPerson, table: SheetsTable, random: Random): Elsewhere | null {
  const { tab } = table;
  if (person.grid(tab) === null) return null;
  const restore = person.keepVersion();
  const isMadeAnew = (): boolean => person.grid(tab) !== null;
  const comesBack = (): void => {
    table.tab = tab;
  };
  switch (random.pick(['renamed', 'trashed', 'deleted'] as const)) {
    case 'renamed':
      table.tab = `${tab} away`;
      person.renameTab(tab, table.tab);
      return {
        told: 'the tab is renamed',
        codes: ['target.tab-renamed'],
        isMadeAnew,
        back: () => {
          person.renameTab(table.tab, tab);
          comesBack();
        },
      };
    case 'trashed':
      person.setTrashed(true);
      // Nobody can work in it.
      table.tab = 'in the trash';
      return {
        told: 'the spreadsheet is in the trash',
        codes: ['target.trashed'],
        back: () => {
          person.setTrashed(false);
          comesBack();
        },
      };
    default:
      // The last tab cannot be deleted.
      person.addTab('Notes');
      person.deleteTab(tab);
      return {
        told: 'the tab is deleted',
        // A tab to which the connection was switched before has its record, and is taken for this one with another name.
        codes: ['guard.target-gone', 'target.tab-renamed'],
        isMadeAnew,
        back: () => {
          restore(true);
          comesBack();
        },
      };
  }
}
