import { quoteWord } from '../../shells/quote.ts';
import type { Shell } from '../../shells/shell.ts';
import type { EmptyFile } from '../terminal/outputfile.ts';

/**
 * What to do where the shell took the `>` of a filter without quotes as the way to a file: the filter is a key alone,
 * and there is an empty file that is called like the rest. Undefined where that is not what happened.
 */
export function takenByShell(
  filters: readonly string[],
  file: EmptyFile | undefined,
  shell: Shell,
): string | undefined {
  const typed = filters.map((filter) => filter.trim()).find((filter) => KEY_ALONE.test(filter));
  if (typed === undefined || file === undefined || !isRest(typed, file)) return undefined;
  const key = typed.replace(/-$/, '');
  const { name } = file;
  const value = (word: string, text: string) => `--filter ${quoteWord(`${key}.${word}=${text}`, shell)}`;
  const [sign, instead] = file.isInput
    ? ['<>', value('contains', name.slice(1))]
    : typed.endsWith('-')
      ? ['>', value('in', name.replace(/^\[(.*)\]$/, '$1'))]
      : name.startsWith('=')
        ? ['>', value('gte', name.slice(1))]
        : ['>', shell === 'cmd' ? `${value('gte', name)} for >=, or ${value('gt', name)} for >` : value('gt', name)];
  return `The shell took ${sign} for itself and made the file ${JSON.stringify(name)}, which is empty and can be deleted. Type ${instead}.`;
}

/** A key, behind that of a list what is left of its arrow; `molar export` has the name of a resource before it. */
const KEY_ALONE = /^(?:[\w-]+:)?[A-Za-z_][\w.]*-?$/;

/** Whether the file is called like the rest of a term, and not as a file that somebody asked for. */
function isRest(typed: string, { name, isInput }: EmptyFile): boolean {
  if (isInput) return name.startsWith('=');
  return typed.endsWith('-') || name.startsWith('=') || (/^\d/.test(name) && !/\.[a-z]\w*$/i.test(name));
}
