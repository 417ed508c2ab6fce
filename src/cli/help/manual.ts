import type { Config } from '@oclif/core/interfaces';
import { commandPage, nameOf } from './commandpage.ts';
import { PAGES, type Page, readPage } from './pages.ts';
import { blocks, escaped, head, macro, running, seeAlso, terms } from './roff.ts';

/** Every page of the manual by its path below `man/`: commands in section 1, `formats` in 5, the pages of help in 7. */
export function manual(config: Config, formats: readonly Page[]): ReadonlyMap<string, string> {
  const pages = PAGES.map((page) => readPage(config.root, page));
  const commands = config.commands.filter((command) => !command.hidden);
  const files: (readonly [string, string])[] = [
    ['man1/molar.1', overview(config, formats, pages)],
    ...commands.map((command): readonly [string, string] => [
      `man1/${nameOf(command.id)}.1`,
      commandPage(command, config),
    ]),
    ...formats.map((page): readonly [string, string] => [`man5/molar-${page.name}.5`, pageOf(page, 5)]),
    ...pages.map((page): readonly [string, string] => [`man7/molar-${page.name}.7`, pageOf(page, 7)]),
  ];
  return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pageOf(page: Page, section: number): string {
  const sections = page.sections.map(
    ({ heading, blocks: parts }) => `${macro('SH', escaped(heading.toUpperCase()))}\n${blocks(parts)}`,
  );
  return `${[head(`molar-${page.name}`, section, page.about), ...sections, seeAlso(['molar(1)'])].join('\n')}\n`;
}

function overview(config: Config, formats: readonly Page[], general: readonly Page[]): string {
  const shown = config.commands
    .filter((command) => !command.hidden)
    .map(({ id, summary }): readonly [string, string] => [`molar ${id.replaceAll(':', ' ')}`, summary ?? ''])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const pages = [
    ...formats.map(({ name, about }): readonly [string, string] => [`molar-${name}(5)`, about]),
    ...general.map(({ name, about }): readonly [string, string] => [`molar-${name}(7)`, about]),
  ];
  const environment = general.find(({ name }) => name === 'environment')?.sections ?? [];
  return `${[
    head('molar', 1, 'command line for a dental practice-management API, and the server that speaks it'),
    '.SH SYNOPSIS',
    '.B molar',
    '.I command',
    '.RI [ flags ]',
    '.SH DESCRIPTION',
    running(
      'Reads, writes and reports the records of a practice over its API, moves documents, and serves the same API from this machine. Each command has a page of its own: molar-patients-list(1) is that of molar patients list.',
    ),
    '.SH COMMANDS',
    terms(shown),
    '.SH PAGES',
    terms(pages),
    '.SH ENVIRONMENT',
    terms(
      environment
        .slice(0, 1)
        .flatMap((part) => part.blocks.flatMap((b) => (typeof b === 'object' && 'rows' in b ? b.rows : []))),
    ),
    seeAlso(pages.map(([name]) => name)),
  ].join('\n')}\n`;
}
