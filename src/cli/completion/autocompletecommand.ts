import * as Args from '@oclif/core/args';
import { usageFailure } from '../../core/failure.ts';
import { MolarCommand } from '../molarcommand.ts';
import { completionOf } from './model.ts';
import { SHELL_SCRIPTS } from './shells.ts';

const SHELLS = Object.keys(SHELL_SCRIPTS);

/** The shell whose script is printed; read by the command, so that the words of its refusal are ours. */
export const autocompleteArguments = {
  shell: Args.string({ required: true, ignoreStdin: true, description: `One of ${SHELLS.join(', ')}` }),
};

/** Prints a completion script that needs nothing but the shell; throws a Failure (exit 2) for an unknown shell. */
export abstract class AutocompleteCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { args } = await this.input();
    const script = SHELL_SCRIPTS[String(args.shell)];
    if (script === undefined) {
      throw usageFailure(`SHELL must be one of ${SHELLS.join(', ')}.`, { source: 'SHELL' });
    }
    await this.print(script(completionOf(this.config)));
  }
}
