import { dirname, resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { EXIT } from '../../catalog/failures.ts';
import type { WallClock } from '../../catalog/fields/kind.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { countText } from '../../core/count.ts';
import { Failure, localFailure } from '../../core/failure.ts';
import { holdMirror, readMirror } from '../../core/mirror/access.ts';
import type { HeldMirror } from '../../core/mirror/engine.ts';
import { defaultReceipt, type MirrorPlace } from '../../core/mirror/place.ts';
import { noMirror } from '../../core/mirror/sql/reading.ts';
import { MIRROR_TABLES, type MirrorTable } from '../../core/mirror/tables.ts';
import { notCompared, receiptOf, reportOf, type VerifyReport } from '../../core/mirror/verify/receipt.ts';
import { type VerifiedResource, verifyOnce } from '../../core/mirror/verify/verifyrun.ts';
import { writeAtomicFile } from '../../core/output/atomicfile.ts';
import { LocalClock } from '../../core/output/localclock.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import { connectionFlags, readConnectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { exportFlags } from '../flags/exports.ts';
import { rowFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { type Deidentifying, readDeidentifying, writtenAt } from './deidentifying.ts';
import { mirrorPlace, placeFlags } from './place.ts';
import { readingProgress } from './progress.ts';
import { serverClock } from './serverclock.ts';
import { readFacts, readLocalZones, readPaging, readTables } from './syncoptions.ts';

const mirror = flagGroup('MIRROR');

/** Records of a sample at most. */
const MAX_SAMPLE = 1_000_000;

export const verifyArguments = {
  resource: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: `What to compare, one or more of ${MIRROR_TABLES.map(({ resource }) => resource.name).join(', ')}; everything when none is named`,
  }),
};

export const verifyFlags: FlagInput = {
  ...placeFlags,
  repair: mirror.toggle('Make the copy what the server has wherever it differs'),
  sample: mirror.text('N', 'Compare counts and ids, and the content of N records of each resource, chosen by chance'),
  receipt: mirror.text(
    'FILE',
    'Where to write the receipt; beside the file of the mirror, with .verify.json at the end, if not given, and of a database in the data folder',
  ),
  deidentify: mirror.text('KEYFILE', 'The key of a de-identified mirror, where its file was moved'),
  moved: mirror.toggle('The same practice has a new address: compare everything'),
  'page-size': rowFlags['page-size'],
  parallel: exportFlags.parallel,
  json: mirror.toggle('Print what was found as JSON; errors are JSON too'),
  ...talkFlags,
  ...connectionFlags,
};

/** Compares a mirror with the service, and mends it with `--repair` (D52). */
export abstract class MirrorVerifyCommand extends MolarCommand {
  static override usage = '<%= command.id %> [RESOURCE…] [FLAGS]';

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const { context } = this;
    const named = (args.resource as readonly string[] | undefined) ?? [];
    const tables = readTables(named);
    const sample = wholeNumber(flags, 'sample', 1, MAX_SAMPLE);
    const place = mirrorPlace(flags, context);
    const settings = readSettings(readConnectionFlags(flags), context.env);
    if ((await readMirror(place)) === undefined) throw noMirror(place.name);
    const held = await holdMirror(place, 'molar mirror verify', lockOwner(context.clock));
    try {
      const known = await held.read();
      if (known === undefined) throw noMirror(place.name);
      const facts = readFacts(flags, settings, known, place.name);
      const order = { facts, known: known.facts, file: place.name };
      const note = (line: string) => this.note(line);
      const choices = await readDeidentifying(flags, order, { clock: context.clock, note });
      const { report, resources } = await this.verify({ ...choices, flags, place, held, tables, sample, named });
      await this.print(isOn(flags, 'json') ? `${JSON.stringify(report)}\n` : lines(report));
      await this.conclude(report, resources, named, isOn(flags, 'repair'));
    } finally {
      await held.release();
    }
  }

  private async verify({ flags, place, held, facts, deidentifier, tables, sample, named }: Order) {
    const { clock, signal, env } = this.context;
    const clockAhead = serverClock(this.connections(flags), this.context);
    const client = await this.connect(flags);
    const zones = readLocalZones(flags, facts, this.context.env);
    const local = new LocalClock(zones.zone);
    const instantOf = (wall: WallClock) => local.instantOf(wall);
    const startedAt = new Date(clock.now()).toISOString();
    const store = await held.open(facts, { zones, instantOf, now: writtenAt(clock, deidentifier) });
    const { stop, ...progress } = readingProgress(this.context, isOn(flags, 'quiet'), (line) => this.note(line));
    try {
      const resources = await verifyOnce({
        ...{ client, store, tables, signal, clockAhead, deidentifier, sample, now: clock.now, ...progress },
        ...readPaging(flags),
        isRepair: isOn(flags, 'repair'),
      }).finally(stop);
      const chosen = textFlag(flags, 'receipt');
      const receipt = resolve(chosen ?? defaultReceipt(place, env));
      const endedAt = new Date(clock.now()).toISOString();
      const verified = { store, resources, receipt, startedAt, endedAt, sample, named };
      if (chosen === undefined) await makeOwnFolder(dirname(receipt));
      await writeAtomicFile(receipt, await receiptOf(verified));
      return { report: await reportOf(verified), resources };
    } finally {
      await store.close();
    }
  }

  /** Says what is left to do, or throws it. */
  private async conclude(
    { file, differences, repaired, receipt }: VerifyReport,
    resources: readonly VerifiedResource[],
    named: readonly string[],
    isRepair: boolean,
  ): Promise<void> {
    const failed = notCompared(resources, named);
    const [first] = failed;
    const left = differences - repaired;
    const what = `${countText(left)} of its records ${left === 1 ? 'differs' : 'differ'} from the server's`;
    if (left > 0 && !isRepair) {
      throw new Failure(`${file} is no exact copy: ${what}.`, {
        ...{ code: 'mirror.different', exitCode: EXIT.file },
        hint: `Run it again with --repair to mend them. The receipt is ${receipt}.`,
      });
    }
    if (left > 0) throw localFailure('run.partial', `Not all could be mended: ${what}.`, { hint: 'Run it again.' });
    const doubtful = failed.find(({ failure }) => failure?.code === 'pages.incomplete');
    if (doubtful?.failure) throw doubtful.failure;
    if (first?.failure && failed.length === resources.length) throw first.failure;
    if (first !== undefined) {
      const names = failed.map(({ table }) => table.resource.name).join(', ');
      const why = first.failure?.message ?? first.unavailable ?? '';
      throw localFailure('run.partial', `Not compared: ${names}. ${why}`, { hint: 'Run it again.' });
    }
    const mended = repaired === 0 ? '' : ` after ${countText(repaired)} of its records were mended`;
    await this.note(`${file} is an exact copy${mended}. The receipt is ${receipt}.`);
  }
}

interface Order extends Deidentifying {
  readonly flags: FlagValues;
  readonly place: MirrorPlace;
  readonly held: HeldMirror;
  readonly tables: readonly MirrorTable[];
  readonly sample: number | undefined;
  readonly named: readonly string[];
}

/** A line for each difference that is named. */
function lines({ resources }: VerifyReport): string {
  const found = resources.flatMap(({ resource, missing, extra, different }) => [
    ...missing.map((id) => `${resource} ${id}: missing`),
    ...extra.map((id) => `${resource} ${id}: not on the server`),
    ...different.map(({ id, fields }) => `${resource} ${id}: different in ${fields.join(', ')}`),
  ]);
  return found.map((line) => `${line}\n`).join('');
}
