import { serverFailureOf } from '../../errors/server.ts';
import { type CommandInput, MolarCommand } from '../../molarcommand.ts';
import { WorkProgress } from './workprogress.ts';

/** How a long work tells where it is, and hears that it is to end. */
export interface Work {
  readonly progress: (what: string, count: number) => void;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

/** What goes to standard output, and the exit code. */
interface Told {
  readonly text: string;
  readonly exitCode: number;
  /** It has a look already, and no control characters of others. */
  readonly isStyled?: boolean;
}

/** A command that works through all of the server's data: with progress on a terminal, and ended by a signal. */
export abstract class MaintenanceCommand<Report> extends MolarCommand {
  protected abstract perform(input: CommandInput, work: Work): Promise<Report>;
  protected abstract tell(report: Report, input: CommandInput): Told;

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
      await progress.stop();
    }
    const { text, exitCode, isStyled } = this.tell(report, input);
    await (isStyled ? this.context.streams.stdout.write(text) : this.print(text));
    this.context.setExitCode(exitCode);
  }
}
