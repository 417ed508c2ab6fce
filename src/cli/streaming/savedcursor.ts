import { join } from 'node:path';
import { holdLock } from '../../core/lockfile.ts';
import { configFolder } from '../../core/profiles/config.ts';
import { type NamedPosition, type PositionKey, PositionSaver, PositionStore } from '../../core/stream/positions.ts';
import type { Context } from '../context.ts';
import { lockOwner } from '../lockowner.ts';

/** The position of a listener with a name, held by this process alone. */
export interface KeptPosition {
  /** Undefined at the first start. */
  readonly known: NamedPosition | undefined;
  readonly keeper: PositionSaver;
  /** Saves what is not saved yet and lets go. */
  readonly release: () => Promise<void>;
}

/**
 * Takes hold of a named position. `pause`: milliseconds between two saves. Throws a Failure with exit code 9 when
 * another listener has it.
 */
export async function holdPosition(
  place: PositionKey,
  keys: readonly string[],
  pause: number,
  { env, clock }: Context,
): Promise<KeptPosition> {
  const positions = new PositionStore(join(configFolder(env), 'streams'));
  const what = `The position of the listener ${place.name}`;
  const letGo = await holdLock(await positions.lockPath(place), what, lockOwner(clock));
  try {
    const known = await positions.read(place);
    const keeper = new PositionSaver((position) => {
      const movedAt = new Date(clock.now()).toISOString();
      return positions.write({ version: 1, ...place, keys, position, movedAt });
    }, pause);
    return { known, keeper, release: () => keeper.flush().finally(letGo) };
  } catch (cause) {
    await letGo();
    throw cause;
  }
}
