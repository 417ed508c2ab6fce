import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { Environment } from '../../core/environment.ts';
import { usageFailure } from '../../core/failure.ts';
import { NAME_KINDS } from '../../core/names/namerows.ts';
import { configPath, readConfig } from '../../core/profiles/config.ts';
import { isOn, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { readNames } from '../names/profilenames.ts';
import { savedNames } from '../query/statements.ts';
import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import { type Completion, completionOf } from './model.ts';
import { answerLine, powershellScript, readRequest } from './powershell.ts';
import { suggestions } from './suggestions.ts';
import { NAMED_KINDS, type NamedKind } from './values.ts';
import { zshScript } from './zsh.ts';

/** The shells that have a completion script, each with the function that writes it. */
export const SHELL_SCRIPTS: Readonly<Record<string, (completion: Completion) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

const SHELLS = Object.keys(SHELL_SCRIPTS);

/** The shell whose script is printed; read by the command, so that the words of its refusal are ours. */
export const autocompleteArguments = {
  shell: Args.string({ required: true, ignoreStdin: true, description: `One of ${SHELLS.join(', ')}` }),
};

export const autocompleteFlags = {
  line: Flags.string({ hidden: true, summary: 'What the script for PowerShell asks: the line in base64' }),
  names: Flags.string({
    hidden: true,
    options: [...NAMED_KINDS],
    summary: 'What they ask: names of locations and others',
  }),
  queries: Flags.boolean({ hidden: true, summary: 'What the other scripts ask: names of saved statements' }),
};

/** Prints a completion script; throws a Failure (exit 2) for an unknown shell. */
export abstract class AutocompleteCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { args, flags } = await this.input();
    const script = SHELL_SCRIPTS[String(args.shell)];
    if (script === undefined) {
      throw usageFailure(`SHELL must be one of ${SHELLS.join(', ')}.`, { source: 'SHELL' });
    }
    const { context } = this;
    const named = textFlag(flags, 'names');
    if (named !== undefined) return this.print(lines(ownNames(context.env)[named as NamedKind]));
    if (isOn(flags, 'queries')) return this.print(lines(await savedNames(context)));
    const completion = completionOf(this.config);
    const line = textFlag(flags, 'line');
    if (line === undefined) return this.print(script(completion));
    const { typed, kept } = readRequest(line);
    const profiles = Object.keys(readConfig(configPath(context.env)).profiles);
    const queries = await savedNames(context);
    const answers = suggestions(completion, typed, { profiles, queries, ...ownNames(context.env) }).map(
      (each) => `${answerLine(each, kept)}\n`,
    );
    if (answers.length > 0) await this.print(answers.join(''));
  }
}

function lines(words: readonly string[]): string {
  return words.map((word) => `${word}\n`).join('');
}

/** What can be typed for what has names; all locations at once by ALL. */
function ownNames(env: Environment): Readonly<Record<NamedKind, readonly string[]>> {
  const names = readNames({}, env);
  const [locations, providers, operatories] = NAME_KINDS.map((kind) => [...new Set(names.names(kind))]);
  return { locations: [...(locations ?? []), 'ALL'], providers: providers ?? [], operatories: operatories ?? [] };
}
