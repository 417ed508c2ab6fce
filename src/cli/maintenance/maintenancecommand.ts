import { type CommandInput, MolarCommand } from '../molarcommand.ts';
import { serverFailureOf } from '../serverfailures.ts';
import { WorkProgress } from './workprogress.ts';

/** How a long work tells where it is, and hears that it is to end. */
export interface Work {
  readonly progress: (what: string, count: number) => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** A command that works through all of the server's data: with progress on a terminal, and ended by a signal. */
export abstract class MaintenanceCommand<Report> extends MolarCommand {
  protected abstract perform(input: CommandInput, work: Work): Promise<Report>;
  /** What goes to standard output, and the exit code. */
  protected abstract tell(report: Report, input: CommandInput): { readonly text: string; readonly exitCode: number };

  override async run(): Promise<void> {
    const input = await this.input();
    const { signal, clock } = this.context;
    const progress = new WorkProgress(this.context);
    let report: Report;
    try {
      report = await this.perform(input, { progress: progress.at, signal, now: clock.now });
    } catch (error) {
      throw serverFailureOf(error);
    } finally {
      progress.stop();
    }
    const { text, exitCode } = this.tell(report, input);
    await this.print(text);
    this.context.setExitCode(exitCode);
  }
}
