import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { EXIT } from '../../catalog/failures.ts';
import type { Fields, WallClock } from '../../catalog/fields/kind.ts';
import { integer } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import { readOnly } from '../../catalog/record.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { holdMirror, readMirror } from '../../core/mirror/access.ts';
import type { HeldMirror } from '../../core/mirror/engine.ts';
import { hasAllFiles } from '../../core/mirror/files/filesindex.ts';
import type { MirrorPlace } from '../../core/mirror/place.ts';
import type { MirrorContents } from '../../core/mirror/sql/reading.ts';
import { wholeOf } from '../../core/mirror/status.ts';
import type { MirrorFacts } from '../../core/mirror/store.ts';
import { type FollowEvent, followMirror } from '../../core/mirror/sync/follow.ts';
import { Stream } from '../../core/mirror/sync/listening.ts';
import { type ResourceOutcome, type SyncOutcome, syncOnce } from '../../core/mirror/sync/syncrun.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../core/mirror/tables.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import { DEFAULT_RETRY } from '../../core/transport/retry.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { exportFlags } from '../flags/exports.ts';
import { rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { pingFlags } from '../ping.ts';
import { lockOwner } from '../process/lockowner.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { type Deidentifying, readDeidentifying, writtenAt } from './deidentifying.ts';
import { filesFailure, keepContents } from './keepfiles.ts';
import { mirrorPlace, placeFlags } from './place.ts';
import { readingProgress } from './progress.ts';
import { serverClock } from './serverclock.ts';
import { syncFailure } from './syncfailure.ts';
import { readAge, readFacts, readLocalZones, readPaging, readTables } from './syncoptions.ts';

const mirror = flagGroup('MIRROR');

/** Milliseconds between syncs when a service without a stream is followed. */
const INTERVAL = 60_000;

export const syncArguments = {
  resource: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: `What to bring up to date, one or more of ${MIRROR_TABLES.map(({ resource }) => resource.name).join(', ')}; everything when none is named`,
  }),
};

export const syncFlags: FlagInput = {
  ...placeFlags,
  history: mirror.toggle('Keep every version of each record from now on, with the time from and to which it was so'),
  columns: mirror.list(
    'RESOURCE:A,B',
    'Only these fields of a resource, such as patients:id,lastName; a file keeps its choice',
  ),
  files: mirror.text(
    'DIR',
    'Also keep the content of each document, as DIR/ID/NAME; a file keeps its choice until another folder is named',
  ),
  deidentify: mirror.text(
    'KEYFILE',
    'Leave out names, contacts, free text and full dates, and replace ids by pseudonyms; the key is made when missing, and a file keeps its choice',
  ),
  fresh: mirror.text(
    'TIME',
    'Do nothing when all is younger than this, such as 15m; with --follow: how often to sync without a stream',
  ),
  follow: mirror.toggle('Go on until interrupted: apply each change as the stream tells it, or sync again and again'),
  timezone: mirror.text(
    'ZONE',
    "IANA time zone of the local times in views where molar names tells none, this computer's when not given; a file keeps it",
  ),
  moved: mirror.toggle('The same practice has a new address: compare everything'),
  'page-size': rowFlags['page-size'],
  parallel: exportFlags.parallel,
  json: mirror.toggle('Print the summary as JSON; errors are JSON too'),
  ...pingFlags,
  ...talkFlags,
  ...connectionFlags,
};

const SUMMARY: Fields = {
  resource: readOnly(text(), 'Resource'),
  table: readOnly(text(), 'Table'),
  rows: readOnly(integer(), 'Rows'),
  added: readOnly(integer(), 'New rows'),
  changed: readOnly(integer(), 'Changed rows'),
  deleted: readOnly(integer(), 'Deleted rows'),
};

/** Brings a mirror up to date, or makes it (D52). */
export abstract class MirrorSyncCommand extends MolarCommand {
  static override usage = '<%= command.id %> [RESOURCE…] [FLAGS]';

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const { context } = this;
    const named = (args.resource as readonly string[] | undefined) ?? [];
    const tables = readTables(named);
    const place = mirrorPlace(flags, context);
    const settings = readSettings(readConnectionFlags(flags), context.env);
    const fresh = readAge(flags, 'fresh');
    const command = 'molar mirror sync';
    const clockAhead = serverClock(this.connections(flags), context);
    await this.pinged(command, flags, async (done) => {
      if (fresh !== undefined && !isOn(flags, 'follow')) {
        const known = await readMirror(place);
        const outcomes = known && untouched(tables, known);
        const time = context.clock.now() - fresh;
        if (known && outcomes && isYounger(known, outcomes, named, time) && (await hasFiles(known, outcomes))) {
          await this.choices(flags, readFacts(flags, settings, known, place.name), known, place.name);
          return this.report(flags, place, known, outcomes, { isComplete: true, requests: 0 });
        }
      }
      const held = await holdMirror(place, command, lockOwner(context.clock));
      try {
        const known = await held.read();
        const choices = await this.choices(flags, readFacts(flags, settings, known, place.name), known, place.name);
        await this.sync({ ...choices, place, held, tables, flags, named, clockAhead, done });
      } finally {
        await held.release();
      }
    });
  }

  private choices(flags: FlagValues, facts: MirrorFacts, known: MirrorContents | undefined, file: string) {
    const order = { facts, known: known?.facts, file };
    return readDeidentifying(flags, order, { clock: this.context.clock, note: (line) => this.note(line) });
  }

  private async sync(order: Order): Promise<void> {
    const { held, facts, deidentifier, tables, flags, clockAhead } = order;
    const { clock, signal, random } = this.context;
    const client = await this.connect(flags);
    const zones = readLocalZones(flags, facts, this.context.env);
    const local = new LocalClock(zones.zone);
    const instantOf = (wall: WallClock) => local.instantOf(wall);
    const store = await held.open(facts, { zones, instantOf, now: writtenAt(clock, deidentifier) });
    try {
      const { stop, ...progress } = readingProgress(this.context, isOn(flags, 'quiet'), (line) => this.note(line));
      const common = {
        ...{ client, store, tables, signal, clockAhead, deidentifier, ...progress, now: clock.now },
        ...readPaging(flags),
      };
      const outcome = await syncOnce(common).finally(stop);
      const keeping = { store, client, connections: this.connections(flags), context: this.context };
      const keep = (synced: SyncOutcome) => keepContents({ ...keeping, isQuiet: isOn(flags, 'quiet') }, synced);
      const incomplete = filesFailure(await keep(outcome));
      const isFollowing = isOn(flags, 'follow');
      const isSilent = isFollowing && isOn(flags, 'json');
      await this.conclude(order, outcome, client, { isSilent, hasFiles: incomplete === undefined });
      if (!isFollowing && incomplete !== undefined) throw incomplete;
      if (!isFollowing) return;
      if (incomplete !== undefined) await this.note(incomplete.message);
      await order.done();
      await followMirror(
        {
          ...{ clock, random, signal, policy: DEFAULT_RETRY },
          stream: new Stream(client, clock.now, signal),
          sync: async (isIncrement) => {
            const synced = await syncOnce({ ...common, isIncrement }).finally(stop);
            const missing = isIncrement && !hasNewDocuments(synced) ? undefined : filesFailure(await keep(synced));
            if (missing !== undefined) await this.note(missing.message);
            return synced;
          },
          interval: readAge(flags, 'fresh') ?? INTERVAL,
          onStale: ({ resource }, reason) => this.note(`${resource.name}: not up to date. ${reason}`),
          onEvent: (event) => this.print(isOn(flags, 'json') ? `${JSON.stringify(event)}\n` : eventLine(event)),
        },
        outcome,
      );
    } finally {
      await store.close();
    }
  }

  /** Prints the summary, and throws what kept a resource from being whole. */
  private async conclude(
    { place, held, flags, named }: Order,
    outcome: SyncOutcome,
    client: ApiClient,
    { isSilent, hasFiles }: { readonly isSilent: boolean; readonly hasFiles: boolean },
  ): Promise<void> {
    const contents = await held.read();
    const failure = syncFailure(outcome.resources, named, contents?.resources);
    // Where nothing is whole there is nothing to tell but why.
    if (failure !== undefined && failure.exitCode !== EXIT.partial && failure.code !== 'pages.incomplete')
      throw failure;
    if (contents !== undefined && !isSilent) {
      const { requests } = client.statistics;
      await this.report(flags, place, contents, outcome.resources, {
        isComplete: failure === undefined && hasFiles,
        requests,
      });
    }
    if (failure !== undefined) throw failure;
  }

  private async report(
    flags: FlagValues,
    { name: file }: MirrorPlace,
    contents: MirrorContents,
    outcomes: readonly ResourceOutcome[],
    { isComplete, requests }: { readonly isComplete: boolean; readonly requests: number },
  ): Promise<void> {
    const { context } = this;
    const resources = outcomes.map(({ table, rows, added, changed, deleted, complete, unavailable }) => {
      return { resource: table.resource.name, table: table.name, rows, added, changed, deleted, complete, unavailable };
    });
    if (isOn(flags, 'json')) {
      const asked = new Map(
        [...contents.resources].filter(([table]) => outcomes.some((outcome) => outcome.table === table)),
      );
      const { asOf, position } = wholeOf(asked);
      const { organization } = contents.facts;
      return this.print(
        `${JSON.stringify({ file, organization, complete: isComplete, position, asOf, requests, resources })}\n`,
      );
    }
    const plan = planRows(
      { ...flags, timezone: undefined },
      SUMMARY,
      Object.keys(SUMMARY),
      context.streams.stdout.isTTY,
    );
    await writeRows({
      ...{ context, flags, plan, many: 'resources' },
      open: async () => singlePage(resources),
      note: (line) => this.note(line),
    });
    for (const { table, unavailable } of outcomes) {
      if (unavailable !== null) await this.note(`${table.resource.name}: not mirrored. ${unavailable}`);
    }
  }
}

interface Order extends Deidentifying {
  readonly place: MirrorPlace;
  readonly held: HeldMirror;
  readonly tables: readonly MirrorTable[];
  readonly flags: FlagValues;
  readonly clockAhead: () => number | undefined;
  /** To be called once the first sync is done, where more follow. */
  readonly done: () => Promise<void>;
  /** Resources as the command line names them. */
  readonly named: readonly string[];
}

/** Whether nothing is missing, and everything that the service gives is as of a later time. */
function isYounger(
  { resources }: MirrorContents,
  outcomes: readonly ResourceOutcome[],
  named: readonly string[],
  time: number,
): boolean {
  if (syncFailure(outcomes, named, resources) !== undefined) return false;
  return outcomes.every(
    ({ table, unavailable }) => unavailable !== null || Date.parse(resources.get(table)?.asOf ?? '') > time,
  );
}

/** Whether no content of a document is missing that the last sync could not get. */
async function hasFiles({ facts }: MirrorContents, outcomes: readonly ResourceOutcome[]): Promise<boolean> {
  const documents = outcomes.find(({ table }) => table.name === 'documents');
  if (!facts.files || !documents?.complete) return true;
  return hasAllFiles(facts.files, documents.rows);
}

function untouched(tables: readonly MirrorTable[], { resources }: MirrorContents): ResourceOutcome[] {
  return tables.map((table) => {
    const { rows = 0, complete = false, unavailable = null } = resources.get(table) ?? {};
    return { table, rows, added: 0, changed: 0, deleted: 0, complete, unavailable, failure: null };
  });
}

function hasNewDocuments({ resources }: SyncOutcome): boolean {
  return resources.some(
    ({ table, added, changed, deleted }) => table.name === 'documents' && added + changed + deleted > 0,
  );
}

/** An event for people. */
function eventLine({ event, asOf, added, changed, deleted }: FollowEvent): string {
  return `${asOf} ${event}: ${added} added, ${changed} changed, ${deleted} deleted\n`;
}
