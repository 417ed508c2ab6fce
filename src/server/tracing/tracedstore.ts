import { asideOf, type Reader, type Statement, type Store } from '../store/store.ts';
import { isTracing, type SpanFacts, traced } from './tracing.ts';

/**
 * A store whose statements, writes and appended rows are spans, where traces are switched on, else the store itself. The
 * span of a write begins when it is handed in: `begun` and `done` mark the work inside its transaction, and what is left
 * is waiting for others and the commit. Statements are told by their first word alone.
 */
export function tracedStore(store: Store, system: 'sqlite' | 'postgresql'): Store {
  if (!isTracing()) return store;
  const facts = (operation: string): SpanFacts => ({
    name: `${operation} ${system}`,
    kind: 'client',
    attributes: { 'db.system.name': system, 'db.operation.name': operation },
  });
  const verbOf = ({ sql }: Statement) => /^\s*(\w+)/.exec(sql)?.[1]?.toUpperCase() ?? 'SELECT';
  const reader = (read: Reader): Reader => ({
    all: (statement) => traced(facts(verbOf(statement)), () => read.all(statement)),
    get: (statement) => traced(facts(verbOf(statement)), () => read.get(statement)),
    ...(read.aside && { aside: (owner: unknown) => reader(asideOf(read, owner)) }),
  });
  const read = reader(store.read);
  return {
    ...store,
    read,
    readFor(owner) {
      const own = store.readFor(owner);
      return own === store.read ? read : reader(own);
    },
    lookupsFor(owner) {
      const own = store.lookupsFor(owner);
      return own === store.read ? read : reader(own);
    },
    write: (work, org) =>
      traced(facts('WRITE'), (mark) =>
        store.write(async (tx) => {
          mark('begun');
          const value = await work(tx);
          mark('done');
          return value;
        }, org),
      ),
    appendLogs: (rows) => traced(facts('APPEND'), () => store.appendLogs(rows)),
  };
}
