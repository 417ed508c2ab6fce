import type { FlagInput } from '@oclif/core/interfaces';
import type { Fields } from '../../catalog/fields/kind.ts';
import { integer, yesNo } from '../../catalog/fields/numbers.ts';
import { text } from '../../catalog/fields/text.ts';
import { dateTime } from '../../catalog/fields/times.ts';
import { readOnly } from '../../catalog/record.ts';
import { usageFailure } from '../../core/failure.ts';
import { holdMirror, lockStatus, readMirror } from '../../core/mirror/access.ts';
import { noMirror } from '../../core/mirror/sql/reading.ts';
import { statusOf } from '../../core/mirror/status.ts';
import { connectionFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { outputFlags } from '../flags/output.ts';
import { isOn } from '../flags/values.ts';
import { zoneFlags } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { singlePage, writeRows } from '../rows/output.ts';
import { planRows } from '../rows/plan.ts';
import { mirrorPlace, placeFlags } from './place.ts';

const plain = flagGroup();
const quiet = { quiet: plain.toggle('Print no notes') };
/** What names the profile whose mirror it is; nothing is requested. */
const whose = { profile: connectionFlags.profile };

export const statusFlags: FlagInput = { ...placeFlags, ...whose, ...outputFlags, ...zoneFlags, ...quiet };

const STATUS: Fields = {
  resource: readOnly(text(), 'Resource'),
  table: readOnly(text(), 'Table'),
  rows: readOnly(integer(), 'Rows'),
  deleted: readOnly(integer(), 'Tombstones'),
  complete: readOnly(yesNo(), 'The first load is finished'),
  asOf: readOnly(dateTime(), 'As of when it is true, UTC'),
  changes: readOnly(text(), 'How changes are known'),
  deletes: readOnly(text(), 'How deletions are known'),
  verifiedAt: readOnly(dateTime(), 'When it was last compared with the server, UTC'),
  unavailable: readOnly(text(), 'Why the server does not give it'),
};

/** Says what a mirror holds and as of when it is true (D52). No request is sent. */
export abstract class MirrorStatusCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const place = mirrorPlace(flags, context);
    const contents = await readMirror(place);
    if (contents === undefined) throw noMirror(place.name);
    const held = await lockStatus(place, lockOwner(context.clock));
    const status = statusOf(place.name, contents.facts, contents.resources, held);
    if (isOn(flags, 'json')) return this.print(`${JSON.stringify(status)}\n`);
    const plan = planRows(flags, STATUS, Object.keys(STATUS), context.streams.stdout.isTTY);
    await writeRows({
      ...{ context, flags, plan, many: 'resources' },
      open: async () => singlePage(status.resources as unknown as readonly Record<string, unknown>[]),
      note: (line) => this.note(line),
    });
    const { lock } = status;
    if (lock !== null) await this.note(`${lock.command ?? 'Another command'} is writing to it: process ${lock.pid}.`);
  }
}

export const resetFlags: FlagInput = {
  ...placeFlags,
  ...whose,
  yes: plain.toggle('Remove it; without this nothing is done'),
  ...quiet,
};

/** Removes a mirror: the next sync loads everything. */
export abstract class MirrorResetCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    const place = mirrorPlace(flags, context);
    if (!isOn(flags, 'yes')) {
      throw usageFailure(`Add --yes to remove ${place.name}, its tombstones and its history.`, { source: '--yes' });
    }
    // What is no mirror stays.
    if ((await readMirror(place)) === undefined) throw noMirror(place.name);
    const held = await holdMirror(place, 'molar mirror reset', lockOwner(context.clock));
    try {
      await held.remove();
    } finally {
      await held.release();
    }
    await this.note(`Removed ${place.name}.`);
  }
}
