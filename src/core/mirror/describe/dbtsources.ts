import { columnText, type DescribedColumn, type DescribedTable } from './describedtables.ts';

/**
 * The sources file of a dbt project (dbt 1.8 or newer): every table and view of a mirror with its columns, and data tests
 * of what a mirror promises. That a link leads somewhere is a warning: a record may name one that is gone.
 */
export function dbtSources(
  tables: readonly DescribedTable[],
  { schema, about }: { readonly schema: string; readonly about: string },
): string {
  const lines = [
    'version: 2',
    '',
    'sources:',
    '  - name: molar',
    `    description: ${text(about)}`,
    `    schema: ${text(schema)}`,
    '    tables:',
    ...tables.flatMap((table) => tableLines(table, tables)),
  ];
  return `${lines.join('\n')}\n`;
}

function tableLines(table: DescribedTable, all: readonly DescribedTable[]): string[] {
  const { name, about, columns } = table;
  return [
    `      - name: ${name}`,
    `        description: ${text(about)}`,
    '        columns:',
    ...columns.flatMap((column) => columnLines(column, table, all)),
  ];
}

function columnLines(column: DescribedColumn, table: DescribedTable, all: readonly DescribedTable[]): string[] {
  const about = columnText(column);
  const tests = testsOf(column, table, all);
  return [
    `          - name: ${text(column.name)}`,
    ...(about === '' ? [] : [`            description: ${text(about)}`]),
    ...(column.type === '' ? [] : [`            data_type: ${text(column.type)}`]),
    ...(tests.length === 0 ? [] : ['            data_tests:', ...tests.map((line) => `              ${line}`)]),
  ];
}

function testsOf(
  { name, references }: DescribedColumn,
  { kind, columns }: DescribedTable,
  all: readonly DescribedTable[],
) {
  if (kind === 'view') return [];
  // The first column of a list is the id of the record that it is of.
  const isParent = kind === 'list' && columns[0]?.name === name;
  const isThere = references !== undefined && all.some((table) => table.name === references);
  return [
    ...(name === 'id' && kind !== 'history' ? ['- unique'] : []),
    ...(name === 'id' || isParent || name === 'ordinal' ? ['- not_null'] : []),
    ...(isThere && (kind === 'resource' || kind === 'list') ? relationship(references, isParent) : []),
  ];
}

function relationship(references: string, isParent: boolean): string[] {
  return [
    '- relationships:',
    `    to: ${text(`source('molar', '${references}')`)}`,
    '    field: id',
    ...(isParent ? [] : ['    config:', '      severity: warn']),
  ];
}

/** A text in YAML, which has the quotes and escapes of JSON. */
function text(value: string): string {
  return JSON.stringify(value);
}
