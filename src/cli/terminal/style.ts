import type { Environment } from '../../core/environment.ts';
import { COLOURED, PLAIN, type Style } from '../../core/output/style.ts';
import { hasColours, type Streams } from './streams.ts';

/** Where output goes, and the environment that chooses its look. */
interface Output {
  readonly streams: Streams;
  readonly env: Environment;
}

/** The look of what goes to standard error; plain in a pipe. */
export function errorStyle({ streams, env }: Output): Style {
  return streams.stderr.isTTY && hasColours(env) ? COLOURED : PLAIN;
}

/** The look of what goes to standard output; plain in a pipe, and where the output goes to a file. */
export function styleOf({ streams, env }: Output, toTerminal: boolean): Style {
  return toTerminal && streams.stdout.isTTY && hasColours(env) ? COLOURED : PLAIN;
}
