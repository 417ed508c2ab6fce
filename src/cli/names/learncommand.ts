import type { FlagInput } from '@oclif/core/interfaces';
import { usageFailure } from '../../core/failure.ts';
import { readFrom, readMirror } from '../../core/mirror/access.ts';
import { linkedIds } from '../../core/mirror/sql/linkedids.ts';
import { noMirror } from '../../core/mirror/sql/reading.ts';
import { changeNames, withNewRows } from '../../core/names/changenames.ts';
import { learnFromService } from '../../core/names/learn.ts';
import { NAME_KINDS, type NameRow } from '../../core/names/namerows.ts';
import { pluralOf } from '../../core/names/namesfile.ts';
import { connectionFlags, talkFlags } from '../flags/connection.ts';
import { flagGroup } from '../flags/declare.ts';
import { outputFlags } from '../flags/output.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { mirrorPlace } from '../mirror/place.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { namesFile, organizationOf } from './profilenames.ts';

export const namesLearnFlags: FlagInput = {
  from: flagGroup().text('FILE', 'Mirror to learn from; that of the profile, else the API, when not given'),
  json: outputFlags.json,
  ...talkFlags,
  ...connectionFlags,
};

/** Adds the ids that records show to the names of a profile: from its mirror where there is one, else from the API. */
export abstract class NamesLearnCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env, clock } = this.context;
    const file = namesFile(flags, env);
    const shown = (await this.mirrored(flags)) ?? (await this.requested(flags));
    const { added, names } = await changeNames(file, (known) => withNewRows(known, shown), lockOwner(clock));
    const counts = NAME_KINDS.map((kind) => ({ kind, count: added.filter((row) => row.kind === kind).length }));
    if (isOn(flags, 'json')) {
      const byKind = counts.map(({ kind, count }) => [pluralOf(kind), count]);
      return this.print(`${JSON.stringify({ file, added: added.length, ...Object.fromEntries(byKind) })}\n`);
    }
    await this.print(
      `${added.length} new: ${counts.map(({ kind, count }) => `${count} ${count === 1 ? kind : pluralOf(kind)}`).join(', ')}\n`,
    );
    const left = names.rows.filter(({ name }) => name === '').length;
    if (left > 0) {
      await this.note(`${left} of ${names.rows.length} have no name. molar names edit opens them in an editor.`);
    }
  }

  /** What the mirror shows; undefined where there is none of this organization that says. */
  private async mirrored(flags: FlagValues): Promise<readonly NameRow[] | undefined> {
    const place = mirrorPlace(flags, this.context, 'from');
    const isNamed = textFlag(flags, 'from') !== undefined;
    const facts = (await readMirror(place))?.facts;
    if (facts === undefined && isNamed) throw noMirror(place.name);
    if (facts === undefined) return undefined;
    const asked = organizationOf(flags, this.context.env) ?? facts.organization;
    if (asked !== facts.organization && isNamed) {
      throw usageFailure(`${place.name} is a mirror of the organization ${facts.organization}, not of ${asked}.`, {
        source: '--from',
      });
    }
    return asked === facts.organization ? readFrom(place, linkedIds) : undefined;
  }

  private async requested(flags: FlagValues): Promise<readonly NameRow[]> {
    const { clock, signal } = this.context;
    const client = await this.connect(flags);
    const parts: string[] = [];
    const refused: string[] = [];
    const rows = await learnFromService(client, {
      now: clock.now,
      signal,
      onRead: ({ many }, isWhole) => void (isWhole || parts.push(many)),
      onRefused: ({ many }, { message }) => refused.push(`${many} (${message})`),
    });
    if (refused.length > 0) await this.note(`Not read: ${refused.join(', ')}.`);
    if (parts.length > 0) {
      await this.note(`Only part of these was read: ${parts.join(', ')}. After molar mirror sync all of them count.`);
    }
    return rows;
  }
}
