import type { Environment } from '../../core/environment.ts';
import { COLOURED, PLAIN, type Style } from '../../core/output/style.ts';
import type { Context } from '../context.ts';

/** Whether a terminal is to get colours: not one that calls itself dumb, and never with NO_COLOR (no-color.org). */
export function hasColours(env: Environment): boolean {
  return (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** The look of what goes to standard error; plain in a pipe. */
export function errorStyle({ streams, env }: Context): Style {
  return streams.stderr.isTTY && hasColours(env) ? COLOURED : PLAIN;
}

/** The look of what goes to standard output; plain in a pipe, and where the output goes to a file. */
export function styleOf({ streams, env }: Context, toTerminal: boolean): Style {
  return toTerminal && streams.stdout.isTTY && hasColours(env) ? COLOURED : PLAIN;
}
