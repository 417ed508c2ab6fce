import type { Config } from '@oclif/core/interfaces';
import { inGroups } from './commandhelp.ts';
import { PAGES } from './pages.ts';
import { escaped, head, literal, macro, running, seeAlso, terms } from './roff.ts';

type LoadableCommand = Config['commands'][number];
type Flag = LoadableCommand['flags'][string];

/** The page name of a command: `patients:list` is `molar-patients-list`. */
export function nameOf(id: string): string {
  return `molar-${id.replaceAll(':', '-')}`;
}

/** The manual page of a command, from what oclif knows of it. */
export function commandPage(command: LoadableCommand, config: Config): string {
  const flags = Object.values(command.flags).filter((flag) => !flag.hidden);
  const args = Object.values(command.args);
  const parts = [
    head(nameOf(command.id), 1, sentenceStart(command.summary ?? '')),
    '.SH SYNOPSIS',
    synopses(command),
    ...section('DESCRIPTION', running(filledIn(command.description ?? '', config))),
    ...section(
      'ARGUMENTS',
      terms(args.map((arg): readonly [string, string] => [arg.name.toUpperCase(), arg.description ?? ''])),
    ),
    ...flagSections(flags),
    ...section('EXAMPLES', examples(command, config)),
    '.SH EXIT STATUS',
    '0 when done, another number when not:',
    'see',
    macro('BR', escaped('molar-exit-codes'), '(7).'),
    seeAlso(['molar(1)', ...PAGES.map(({ name }) => `molar-${name}(7)`)]),
  ];
  return `${parts.join('\n')}\n`;
}

function section(heading: string, text: string): string[] {
  return text === '' ? [] : [macro('SH', heading), text];
}

function sentenceStart(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

function filledIn(text: string, config: Config): string {
  return text.replace(/<%=\s*config\.bin\s*%>/g, config.bin);
}

function synopses(command: LoadableCommand): string {
  const { id, aliases, usage } = command;
  const rest = usage === undefined ? ownArguments(command) : [usage].flat().flatMap((line) => usageWords(line, id));
  return [...new Set([id, ...aliases])]
    .map((each) => [macro('B', escaped(`molar ${each.replaceAll(':', ' ')}`)), ...rest].join('\n'))
    .join('\n.br\n');
}

function ownArguments({ args, strict }: LoadableCommand): string[] {
  const named = Object.values(args).map(({ name, required, multiple }) => {
    const shown = `${escaped(name.toUpperCase())}${multiple ? ' ...' : ''}`;
    return required ? macro('I', shown) : macro('RI', '[', shown, ']');
  });
  const more = Object.keys(args).length === 0 && strict === false ? [macro('RI', '[', 'words ...', ']')] : [];
  return [...named, ...more, FLAGS];
}

const FLAGS = macro('RI', '[', 'flags', ']');

/** The words of a usage line after the command: flags are bold, what stands for a value is not. */
function usageWords(usage: string, id: string): string[] {
  const words = usage.replace('<%= command.id %>', '').replace(id, '').split(/\s+/);
  return words
    .filter((word) => word !== '')
    .map((word) => (word === '[FLAGS]' ? FLAGS : macro(word.startsWith('--') ? 'B' : 'I', escaped(word))));
}

/** Flags by their groups. */
function flagSections(flags: readonly Flag[]): string[] {
  const sections = inGroups(flags).flatMap(({ name, flags: own }) => [
    ...(name === '' && flags.length === own.length ? [] : [macro('SS', escaped(name || 'FLAGS'))]),
    ...own.map(flagTerm),
  ]);
  const help = `.TP\n${macro('B', escaped('--help'))}\nShow what the command does and takes`;
  return ['.SH OPTIONS', ...sections, help];
}

function flagTerm(flag: Flag): string {
  const short = flag.char === undefined ? '' : `-${flag.char}, `;
  const name = escaped(`${short}--${flag.name}`);
  const value = flag.type === 'boolean' ? undefined : escaped(valueNameOf(flag));
  const term = value === undefined ? macro('B', name) : macro('BI', `${name} `, value);
  const standard = flag.type === 'option' && typeof flag.default === 'string' ? `\nDefault: ${flag.default}.` : '';
  const about = [flag.summary, flag.description].filter((text) => text !== undefined && text !== '').join('\n');
  return `.TP\n${term}\n${running(`${about}${standard}`)}`;
}

function valueNameOf(flag: Flag): string {
  if (flag.type === 'boolean') return '';
  return String(flag.helpValue ?? flag.options?.join('|') ?? 'VALUE');
}

function examples(command: LoadableCommand, config: Config): string {
  const lines = (command.examples ?? []).map((example) => {
    const text = typeof example === 'string' ? example : example.command;
    return `$ ${filledIn(text, config).replace(/<%=\s*command\.id\s*%>/g, command.id.replaceAll(':', ' '))}`;
  });
  return lines.length === 0 ? '' : literal(lines);
}
