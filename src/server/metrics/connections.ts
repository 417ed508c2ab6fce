import type { Store, StoreConnections } from '../store/store.ts';
import type { Reading } from './recorder.ts';

const HELP: Readonly<Record<keyof StoreConnections, string>> = {
  open: 'Connections to the database.',
  idle: 'Connections to the database that do nothing now.',
  waiting: 'Statements and writes that wait for a connection to the database.',
};

/** What GET /metrics tells of the pools of a database server; nothing where the database is a file. */
export function connectionReadings(store: Store): Reading[] {
  if (store.connections === undefined) return [];
  return (['open', 'idle', 'waiting'] as const).map((name) => ({
    name: `molar_database_connections_${name}`,
    help: HELP[name],
    kind: 'gauge' as const,
    read: () => store.connections?.()[name] ?? 0,
  }));
}
