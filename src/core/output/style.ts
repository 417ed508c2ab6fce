import { styleText } from 'node:util';

/** The role of a piece of text, which decides how it looks. */
export type Look = 'heading' | 'faint' | 'mark' | 'good' | 'caution' | 'late' | 'bad';

/** Styles a text. The text has no control characters any more: escape codes are added last. */
export type Style = (look: Look, text: string) => string;

/** Text as it is: for files, pipes, and terminals without colours. */
export const PLAIN: Style = (_, text) => text;

const CODES = {
  heading: 'bold',
  faint: 'dim',
  mark: 'cyan',
  good: 'green',
  caution: 'yellow',
  late: 'magenta',
  bad: 'red',
} as const satisfies Record<Look, Parameters<typeof styleText>[0]>;

/** Escape codes that every colour terminal knows: the sixteen colours of its own palette, bold and dim. */
// Whether the terminal has colours has been decided; Node would decide again, by the streams of the process.
export const COLOURED: Style = (look, text) =>
  text === '' ? '' : styleText(CODES[look], text, { validateStream: false });

/** A line of a table with its line feed; every second one (`at` counts from 0) is faint, to guide the eye. */
export function banded(text: string, at: number, style: Style): string {
  return `${at % 2 === 1 ? style('faint', text) : text}\n`;
}
