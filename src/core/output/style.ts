import { styleText } from 'node:util';

/** What a piece of text is for, which decides how it looks. */
export type Look = 'heading' | 'faint' | 'mark' | 'good' | 'caution' | 'late' | 'bad';

/** Gives a text a look. The text is free of control characters already: escape codes come last. */
export type Style = (look: Look, text: string) => string;

/** Text as it is: for files, pipes, and terminals on which nobody wants colours. */
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

/** A line of a table with its line feed; every second one (`at` counts from 0) is faint, so that the eye keeps to it. */
export function banded(text: string, at: number, style: Style): string {
  return `${at % 2 === 1 ? style('faint', text) : text}\n`;
}
