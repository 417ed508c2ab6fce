import { operationOf, pathOf } from '../../catalog/catalog.ts';
import { documents } from '../../catalog/resources/documents.ts';
import type { Wanted } from '../../core/documents/downloads/downloadall.ts';
import { usageFailure } from '../../core/failure.ts';
import { totalOf } from '../../core/pages/countall.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { Context } from '../context.ts';
import { readFilter } from '../flags/filters.ts';
import { readIds } from '../flags/idlist.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';

/** Rows asked for at a time: so few that their links are still valid when their turn comes (D38). */
const PAGE = 100;

/** What a list says of a document that is needed to download it. */
const FIELDS = ['id', 'name', 'guidName', 'storage'];

const CHOICES = 'ids, a filter such as --patient ID, or --all for every document';

/** Which documents a command line is about. */
export type DownloadChoice =
  | { readonly ids: readonly number[]; readonly isOne: boolean }
  | { readonly ids: undefined; readonly isOne: false; readonly filter: string | undefined };

/** Reads ids, filter and `--all`, of which there must be one. Throws a Refusal or a Failure (exit 2). */
export async function readChoice(input: CommandInput, context: Context): Promise<DownloadChoice> {
  const { flags } = input;
  const list = await readIds(input, context);
  const filter = readFilter(flags, operationOf(documents, 'list').filters ?? {});
  const given = [list.ids.length > 0, filter !== undefined, isOn(flags, 'all')].filter(Boolean).length;
  if (given === 0) throw usageFailure(`Nothing is chosen: give ${CHOICES}.`, { source: 'ID' });
  if (given > 1) throw usageFailure(`Give only one of: ${CHOICES}.`, { source: list.ids.length > 0 ? 'ID' : '--all' });
  return list.ids.length > 0 ? list : { ids: undefined, isOne: false, filter };
}

/** The documents of a choice; a filter's come page by page. */
export async function* wantedOf(
  choice: DownloadChoice,
  client: ApiClient,
  signal: AbortSignal,
): AsyncGenerator<Wanted> {
  if (choice.ids !== undefined) return yield* choice.ids;
  const { filter } = choice;
  const question = { filter, fields: FIELDS, pageSize: PAGE, signal };
  for await (const { rows } of walkPages(client, operationOf(documents, 'list'), question)) yield* rows;
}

/** How many documents a choice has, undefined where the server does not tell: it is for the progress only. */
export async function countOf(
  choice: DownloadChoice,
  client: ApiClient,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (choice.ids !== undefined) return choice.ids.length;
  const path = pathOf(operationOf(documents, 'count'));
  const question = { method: 'GET', path, query: { filter: choice.filter }, signal } as const;
  return client.request(question).then(totalOf, () => undefined);
}

/** Refuses flags that do not go together or with the choice. Throws a Failure (exit 2). */
export function checkPlace(flags: FlagValues, { isOne }: DownloadChoice): void {
  const { out, dir } = flags;
  if (out === '') throw usageFailure('--out must name a file.', { source: '--out' });
  if (dir === '') throw usageFailure('--dir must name a folder.', { source: '--dir' });
  if (out === undefined) return;
  if (dir !== undefined) throw usageFailure('Give --out or --dir, not both.', { source: '--dir' });
  if (!isOne) throw usageFailure('--out takes one document; use --dir for several.', { source: '--out' });
  if (out === '-' && isOn(flags, 'overwrite'))
    throw usageFailure('--overwrite has no effect on standard output.', { source: '--overwrite' });
}
