import { stripVTControlCharacters } from 'node:util';
import { CommandHelp, Help } from '@oclif/core/help';
import type { Config } from '@oclif/core/interfaces';
import { inShell } from '../../shells/line.ts';
import { PROMPTS, type Shell } from '../../shells/shell.ts';
import { firstStepsText, pagesText } from './text.ts';

export interface HelpLook {
  readonly width: number;
  readonly isColoured: boolean;
  /** What examples are written for. */
  readonly shell: Shell;
  /** No command and no topic has an id that begins with this one's; knowing that saves reading about all of them. */
  readonly isLeaf?: boolean;
}

/** The help of a command or topic by its id, of everything for an empty one and for `help`, as oclif has it. */
export async function helpText(subject: string, config: Config, look: HelpLook): Promise<string> {
  const { width, isColoured, shell } = look;
  const isAll = subject === '' || subject === 'help';
  const isLeaf = look.isLeaf === true && !isAll;
  const help = new MolarHelp({ ...look, isLeaf }, config, {
    ...config.pjson.oclif.helpOptions,
    maxWidth: width,
    flagSortOrder: 'none',
  });
  await help.showHelp(isAll ? [] : [subject]);
  const more = isAll ? `${firstStepsText(width)}\n${pagesText(width)}` : '';
  const text = `${help.lines.join('\n')}\n${more}`.replace(PROMPT, `$1${PROMPTS[shell]}`).replace(/ +$/gm, '');
  return isColoured ? text : stripVTControlCharacters(text);
}

/** What oclif puts before a line, as for a POSIX shell. */
const PROMPT = new RegExp(`^((?:\\s|${String.fromCharCode(27)}\\[[\\d;]*m)*)\\$ `, 'gm');

class MolarCommandHelp extends CommandHelp {
  protected readonly shell: Shell = 'sh';

  constructor(...given: ConstructorParameters<typeof CommandHelp>) {
    super(...given);
    this.render = withoutTemplates(this.render);
  }

  /** Usage first, examples last, where the eye falls; flags in between, by what they are about. */
  protected override sections(): ReturnType<CommandHelp['sections']> {
    const sections = super.sections();
    const named = (name: string) => sections.filter(({ header }) => header === name);
    const flags: (typeof sections)[number] = {
      header: 'FLAGS',
      generate: (input) =>
        inGroups(input.flags).map(({ name, flags: own }) => ({
          header: `${name === 'FIELDS' ? 'FIELD' : name} FLAGS`.trim(),
          body: this.flags([...own]) ?? [],
        })),
    };
    return [
      ...['USAGE', 'ALIASES', 'DESCRIPTION', 'ARGUMENTS'].flatMap(named),
      flags,
      ...['FLAG DESCRIPTIONS', 'EXAMPLES'].flatMap(named),
    ];
  }

  /** Without the summary, which stands above. */
  protected override description(): string | undefined {
    const { description } = this.command;
    return description === undefined || description === '' ? undefined : this.wrap(description);
  }

  /** In the user's shell; left out where that has no such line. */
  protected override examples(examples: Parameters<CommandHelp['examples']>[0]): string | undefined {
    const lines = [examples ?? []].flat().flatMap((example) => {
      const line = inShell(this.render(typeof example === 'string' ? example : example.command), this.shell);
      return line === undefined ? [] : [`$ ${line}`];
    });
    return lines.length === 0 ? undefined : lines.join('\n\n');
  }

  /** The other names of the command; oclif has each alias for a command of its own. */
  protected override aliases(aliases: string[] | undefined): string | undefined {
    const shown = (name: string) => name.replaceAll(':', ' ');
    const own = shown(this.command.id);
    const isOther = aliases?.some((each) => shown(each) === own) === true;
    const first =
      isOther &&
      this.config.commands.find(
        ({ id, aliases: others }) => !others.includes(id) && others.some((each) => shown(each) === own),
      );
    const names = [...(first ? [first.id] : []), ...(aliases ?? [])].map(shown);
    return super.aliases(names.filter((name) => name !== own));
  }
}

/** oclif's help, collected instead of printed, with our sections. */
class MolarHelp extends Help {
  readonly lines: string[] = [];

  constructor(
    private readonly look: HelpLook,
    ...given: ConstructorParameters<typeof Help>
  ) {
    super(...given);
    this.render = withoutTemplates(this.render);
    this.CommandHelpClass = class extends MolarCommandHelp {
      protected override readonly shell = look.shell;
    };
  }

  protected override get sortedTopics() {
    return this.look.isLeaf ? [] : super.sortedTopics;
  }

  protected override get sortedCommands() {
    return this.look.isLeaf ? [] : super.sortedCommands;
  }

  protected override log(...parts: string[]): void {
    this.lines.push(...parts);
  }
}

type Render = CommandHelp['render'];

/** Compiles no template of a text that has no place to fill in. */
function withoutTemplates(render: Render): Render {
  // oclif renders what a flag does not have, too.
  return (text: string | undefined) => (text === undefined || text.includes('<%') ? render(text as string) : text);
}

/** What is requested, what is sent, what the command does besides, then its output and its connection. */
const ORDER = [
  ...['REPORT', 'FILTER', 'MESSAGES', 'FIELDS', 'RECURRENCE', 'BODY', 'DOCUMENT', 'BATCH', 'FORWARDING'],
  ...['', 'OUTPUT', 'EXPORT', 'CONNECTION', 'BROKER'],
];

/** Flags of nearly every command that nobody looks for. */
const LAST = ['quiet', 'verbose'];

interface GroupedFlag {
  readonly name: string;
  readonly helpGroup?: string | undefined;
}

export interface FlagGroup<F> {
  /** `OUTPUT`; empty for flags of no group, `OTHER` for those that nearly every command has. */
  readonly name: string;
  readonly flags: readonly F[];
}

/** Flags in the order in which help and manual show them; within a group as they are declared. */
export function inGroups<F extends GroupedFlag>(flags: readonly F[]): FlagGroup<F>[] {
  const groupOf = ({ name, helpGroup }: F) => helpGroup ?? (LAST.includes(name) ? 'OTHER' : '');
  const names = [...new Set(flags.map(groupOf))];
  const place = (name: string) =>
    ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length + Number(name === 'OTHER');
  return names
    .sort((a, b) => place(a) - place(b))
    .map((name) => ({ name, flags: flags.filter((flag) => groupOf(flag) === name) }));
}
