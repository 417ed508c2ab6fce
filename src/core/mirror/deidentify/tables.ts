import { quoted } from '../names.ts';
import type { MirrorColumn, MirrorTable } from '../tables.ts';
import { AGE_LIMIT, type Treatment, treatmentOf } from './treatments.ts';

const ABOUT: Readonly<Record<Treatment, string>> = {
  pseudonym: '; a pseudonym',
  group: '; a pseudonym',
  year: '; its year',
  birthYear: `; its year, none for people of ${AGE_LIMIT} and more`,
  postalCode: '; three digits, or 000',
  kept: '',
  gone: '; left out',
};

/** The table of a resource in a de-identified copy: years are text, and no column is made for an unknown field (D52). */
export function deidentifiedTable(table: MirrorTable): MirrorTable {
  const changed = (column: MirrorColumn): MirrorColumn => {
    const treatment = treatmentOf(table, column) ?? 'gone';
    const isYear = treatment === 'year' || treatment === 'birthYear';
    return { ...column, about: column.about + ABOUT[treatment], ...(isYear && { type: 'text' }) };
  };
  const children = table.children.map((child) => ({ ...child, columns: child.columns.map(changed) }));
  return { ...table, columns: table.columns.map(changed), children, isDeidentified: true };
}

/** SQL that takes the birth years away of people who have become too old meanwhile; `tables`: those that there are. */
export function agedOut(table: MirrorTable, tables: readonly string[], now: number): string[] {
  const year = String(new Date(now).getUTCFullYear() - AGE_LIMIT);
  return table.columns
    .filter((column) => treatmentOf(table, column) === 'birthYear')
    .flatMap(({ name }) =>
      tables.map((each) => `UPDATE ${quoted(each)} SET ${quoted(name)} = NULL WHERE ${quoted(name)} <= '${year}'`),
    );
}
