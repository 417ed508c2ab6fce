import { MIRROR_TABLES, OWN_COLUMNS } from '../../core/mirror/tables.ts';
import { withoutCents } from '../../core/mirror/views.ts';

/** Tables and views that are of no single resource (D52). */
const OWN = ['_mirror', '_columns', 'v_schedule', 'v_ledger', 'v_balances', 'v_visits'];

/** Names that a query of a mirror is made of: tables, views and columns. */
export function sqlWords(): readonly string[] {
  const columns = MIRROR_TABLES.flatMap(({ columns, children }) => [
    ...columns,
    ...OWN_COLUMNS,
    ...children.flatMap((child) => [{ name: child.parentKey }, { name: 'ordinal' }, ...child.columns]),
  ]);
  const names = [
    ...OWN,
    ...MIRROR_TABLES.flatMap(({ name, children }) => [
      name,
      `${name}_deleted`,
      `v_${name}`,
      ...children.map((child) => child.name),
    ]),
    ...columns.flatMap(({ name }) => [name, withoutCents(name)]),
  ];
  return [...new Set(names)].sort();
}
