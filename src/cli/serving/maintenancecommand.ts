import { type CommandInput, MolarCommand } from '../molarcommand.ts';
import { TaskProgress } from '../terminal/progress.ts';
import { serverFailureOf } from './serverfailure.ts';

/** How a long task of the server reports its progress and learns that it is to end. */
export type Task = import('../../server/maintenance/work.ts').Work;

/** What goes to standard output, and the exit code. */
export interface Outcome {
  readonly text: string;
  readonly exitCode: number;
  /** It is styled already, and free of control characters in data. */
  readonly isStyled?: boolean;
}

/** A command that works through all of the server's data: with progress on a terminal, and ended by a signal. */
export abstract class MaintenanceCommand extends MolarCommand {
  /** Does the task. */
  protected abstract perform(input: CommandInput, task: Task): Promise<Outcome>;

  override async run(): Promise<void> {
    const input = await this.input();
    const { signal, clock, streams, setExitCode } = this.context;
    const progress = new TaskProgress(this.context);
    let outcome: Outcome;
    try {
      outcome = await this.perform(input, { progress: progress.at, signal, now: clock.now });
    } catch (error) {
      throw serverFailureOf(error);
    } finally {
      await progress.stop();
    }
    await (outcome.isStyled ? streams.stdout.write(outcome.text) : this.print(outcome.text));
    setExitCode(outcome.exitCode);
  }
}
