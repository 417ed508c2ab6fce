import { type Failure, localFailure } from '../../core/failure.ts';
import type { MirrorContents } from '../../core/mirror/sql/reading.ts';
import type { ResourceOutcome } from '../../core/mirror/sync/syncrun.ts';
import { needsLocations } from './syncoptions.ts';

/**
 * Why a mirror is not up to date: the one failure there is, one that must not be passed over, or that it is partial
 * (exit 6); undefined where it is. What the service does not give is missing where the command line names it, where it
 * was complete before, since its rows are old now, and where there is nothing else.
 */
export function syncFailure(
  outcomes: readonly ResourceOutcome[],
  named: readonly string[],
  states: MirrorContents['resources'] | undefined,
): Failure | undefined {
  const failed = outcomes.flatMap(({ failure }) => failure ?? []);
  const doubtful = failed.find(({ code }) => code === 'pages.incomplete');
  if (doubtful !== undefined) return doubtful;
  const independent = outcomes.filter(({ table }) => !needsLocations(table));
  const isAnyWhole = (independent.length > 0 ? independent : outcomes).some(isWhole);
  const [first] = failed;
  if (first !== undefined && !isAnyWhole) return first;
  const isMissed = ({ table, unavailable }: ResourceOutcome) =>
    unavailable === null || named.includes(table.resource.name) || states?.get(table)?.complete === true;
  const missing = outcomes.filter((outcome) => !isWhole(outcome) && (isMissed(outcome) || !isAnyWhole));
  if (missing.length === 0) return undefined;
  const names = missing.map(({ table }) => table.resource.name).join(', ');
  const why = first?.message ?? missing[0]?.unavailable ?? '';
  return localFailure('run.partial', `Not up to date: ${names}. ${why}`, {
    hint: 'Run it again: it goes on where it was.',
    cause: first,
  });
}

function isWhole({ complete, unavailable }: ResourceOutcome): boolean {
  return complete && unavailable === null;
}
