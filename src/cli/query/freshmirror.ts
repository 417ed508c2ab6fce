import type { MirrorPlace } from '../../core/mirror/place.ts';
import { connectionFlags } from '../flags/connection.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { MirrorSyncCommand, syncArguments, syncFlags } from '../mirror/synccommand.ts';

/** The sync behind `--fresh` of another command: it prints nothing, and its failure is that of the command. */
export class FreshMirror extends MirrorSyncCommand {
  static override args = syncArguments;
  static override flags = syncFlags;

  protected override async print(): Promise<void> {}

  protected override async note(): Promise<void> {}

  protected override async catch(error: unknown): Promise<void> {
    throw error;
  }
}

/** The command line of that sync: with the connection of this one. `resources`: what to sync; everything where empty. */
export function freshLine(flags: FlagValues, place: MirrorPlace, resources: readonly string[] = []): string[] {
  const given = [...Object.keys(connectionFlags), 'quiet'].flatMap((name) => {
    const value = textFlag(flags, name);
    if (value !== undefined) return [`--${name}=${value}`];
    return isOn(flags, name) ? [`--${name}`] : [];
  });
  const age = textFlag(flags, 'fresh') ?? '';
  // What is older than nothing is synced always.
  const fresh = /^0+[smhd]?$/.test(age) ? [] : [`--fresh=${age}`];
  const to = place.kind === 'file' ? place.name : textFlag(flags, 'from');
  // The summary is printed as JSON, which is nothing here.
  return [...resources, `--to=${to}`, ...fresh, '--json', ...given];
}
