import { escaped, filled, macro } from './roff.ts';

/** The date that pages bear; set by hand at a release, so that the same sources give the same pages. */
const DATE = '2026-11-21';

/** The first lines of a page. */
export function head(name: string, section: number, about: string): string {
  return [
    macro('TH', escaped(name.toUpperCase()), String(section), DATE, 'molar', 'molar manual'),
    // Names of flags and fields are not to be hyphenated, nor lines spread.
    '.nh',
    '.ad l',
    '.SH NAME',
    filled(`${escaped(name)} \\- ${escaped(about)}`),
  ].join('\n');
}

/** References to other pages, sorted as given. */
export function seeAlso(references: readonly string[]): string {
  const lines = references.map((reference, at) => {
    const [, name = '', rest = ''] = /^(.*)(\(\d\))$/.exec(reference) ?? [];
    return macro('BR', escaped(name), `${rest}${at === references.length - 1 ? '' : ','}`);
  });
  return ['.SH SEE ALSO', ...lines].join('\n');
}
