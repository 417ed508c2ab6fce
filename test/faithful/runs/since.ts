import { join } from 'node:path';
import { type Fields, LISTED, type Resource } from '../store.ts';
import { judgedFolder } from './reading.ts';
import { molar, type Outcome, type Run } from './run.ts';

const HOUR = 3_600_000;
const MOST_HOURS = 50;

/** Resources that come whole each time: they have no filter for changes. */
const WHOLE: readonly Resource[] = ['documents', 'transactiontags', 'missedappointments'];

/** An export twice under one name, with changes in between: the second has every record that changed. */
export async function changesOnly(run: Run): Promise<Outcome> {
  const { service, draws } = run;
  const chosen = draws.shuffled(LISTED).slice(0, draws.whole(1, 2));
  const folder = join(run.folder, 'out');
  const line = ['export', ...chosen, '--to', folder, '--format', 'ndjson', '--full-ids', '--since-last', 'nightly'];
  const first = await molar(run, ...line);
  const before = await judgedFolder(run, first, chosen, folder, (resource) => service.reachable(resource));
  if (before.end === 'failed' || before.problems.length > 0) return before;
  await run.clock.sleep(draws.whole(0, MOST_HOURS) * HOUR);
  const changed = new Map<Resource, readonly Fields[]>(chosen.map((one) => [one, changeSome(run, one)]));
  await run.clock.sleep(draws.whole(0, MOST_HOURS) * HOUR);
  const second = await molar(run, ...line);
  return judgedFolder(run, second, chosen, folder, (resource) =>
    WHOLE.includes(resource) ? service.records(resource) : (changed.get(resource) ?? []),
  );
}

/** Adds, edits and removes a few records; gives those that are new or changed and still there. */
function changeSome({ service, draws }: Run, resource: Resource): readonly Fields[] {
  if (service.records(resource).length === 0) return [];
  const added = Array.from({ length: draws.whole(0, 3) }, () => service.add(resource).id);
  const others = draws.shuffled(service.records(resource).filter(({ id }) => !added.includes(id)));
  const fixed = resource === 'appointmenthistories';
  const edited = fixed ? [] : others.slice(0, draws.whole(0, 3)).map(({ id }) => Number(id));
  for (const id of edited) service.edit(resource, id, {});
  const removed = fixed ? [] : others.slice(edited.length, edited.length + draws.whole(0, 2));
  for (const { id } of removed) service.remove(resource, Number(id));
  const wanted = new Set([...added, ...edited]);
  return service.records(resource).filter(({ id }) => wanted.has(id));
}
