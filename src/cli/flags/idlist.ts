import * as Args from '@oclif/core/args';
import type { Resource } from '../../catalog/define.ts';
import { asId } from '../../catalog/fields/numbers.ts';
import { withoutPreamble } from '../../core/documents/uploads/csvrows.ts';
import { usageFailure } from '../../core/failure.ts';
import type { Context } from '../context.ts';
import type { CommandInput } from '../molarcommand.ts';
import { readAll } from '../terminal/streams.ts';
import { isOn, textFlags } from './values.ts';

/** The argument of a command on one record or several. */
export function idsArgument({ many }: Resource, required = true) {
  const description = `Ids of ${many}, or - to read them from standard input`;
  return { id: Args.string({ multiple: true, required, ignoreStdin: true, description }) };
}

/** Ids without duplicates, in the order given. `isOne`: one id was given as an argument, so one record is printed. */
interface IdList {
  readonly ids: readonly number[];
  readonly isOne: boolean;
}

/** Reads ids from arguments; `-` stands for standard input, a list or a CSV column. Throws a Failure (exit 2) for a wrong one. */
export async function readIds({ args, flags }: CommandInput, context: Context): Promise<IdList> {
  const given = textFlags(args, 'id');
  const piped = given.includes('-');
  if (piped && isOn(flags, 'token-stdin')) {
    throw usageFailure('--token-stdin and - both read standard input; give the token another way.', {
      source: '--token-stdin',
    });
  }
  const stdin = piped ? idsOf(await readAll(context.streams.stdin.chunks, context.signal)) : [];
  const ids = new Set(given.flatMap((text) => (text === '-' ? stdin : [idOf(text, 'ID')])));
  if (piped && ids.size === 0) throw usageFailure('There are no ids on standard input.', { source: '-' });
  return { ids: [...ids], isOne: !piped && ids.size === 1 };
}

function idsOf(text: string): number[] {
  const words = withoutPreamble(text)
    .rest.split(/[\s,]+/)
    // PowerShell puts every cell in quotes.
    .map((word) => word.replace(/^"(.*)"$/, '$1'))
    .filter((word) => word !== '');
  return (words[0]?.toLowerCase() === 'id' ? words.slice(1) : words).map((word) => idOf(word, '-'));
}

/** Maximum characters of a word that a message repeats. */
const MAX_SHOWN = 40;

function idOf(text: string, source: string): number {
  const id = asId(text);
  if (id !== undefined) return id;
  const word = JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
  const message =
    source === '-'
      ? `Standard input must hold ids only, positive integers; ${word} is none.`
      : `ID must be a positive integer; ${word} is none.`;
  throw usageFailure(message, { source });
}
