import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import { isInterruption } from '../core/failure.ts';
import { terminalLines } from '../core/output/terminaltext.ts';
import type { ApiClient } from '../core/transport/client.ts';
import { attend } from '../filesystem/held.ts';
import { inShell } from '../shells/line.ts';
import { Connections } from './connections.ts';
import { type Context, contextOf } from './context.ts';
import { type TypedLine, withNextStep } from './errors/nextstep.ts';
import { failureJson, failureOf, failureStack, failureText } from './errors/report.ts';
import { asksForJson, type CommandShape, usageFailureOf } from './errors/usage.ts';
import { withConfiguredDefaults } from './flags/configdefaults.ts';
import { understood } from './flags/meanings.ts';
import { type FlagValues, isOn, textFlag } from './flags/values.ts';
import { checkZone, LocalTimes } from './flags/zone.ts';
import { pinged } from './ping.ts';
import { filesOf } from './process/wildcards.ts';
import { Notes } from './terminal/notes.ts';
import { ClosedPipe } from './terminal/streams.ts';
import { errorStyle } from './terminal/style.ts';

/** A command class as it is loaded and started. */
type MolarCommandClass = new (argv: string[], config: Config) => MolarCommand;

export interface CommandInput {
  readonly flags: FlagValues;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * What every command has: parsed input, the world around it, a client, and the one way errors leave (contract §4). A
 * subclass writes `run`, starts it with `await this.input()` and throws what goes wrong.
 */
export abstract class MolarCommand extends Command {
  /** Runs the command in a configuration whose context is set; oclif's own `run` would load another configuration. */
  static async start(this: MolarCommandClass, argv: readonly string[], config: Config): Promise<void> {
    await new this([...argv], config)._run();
  }

  private given: CommandInput | undefined;
  /** A note has said already which day is today, and where. */
  private isZoneTold = false;
  /** And that it is the zone of this computer. */
  protected isComputersZoneTold = false;
  private opened: Connections | undefined;
  private client: Promise<ApiClient> | undefined;
  private noted: Notes | undefined;

  protected get context(): Context {
    return contextOf(this.config);
  }

  /** Flags, defaults of `molar config` filled in, names and relative dates as ids and dates, and arguments; throws oclif's errors, which `catch` turns into usage failures. */
  protected async input(): Promise<CommandInput> {
    // A line that does not parse is reported by `catch`; oclif would warn on top of it.
    this.parsed = true;
    // oclif copies own properties only of what it is given, not the statics of base classes.
    const declared = { args: this.ctor.args, flags: this.ctor.flags, strict: this.ctor.strict };
    const { flags, args: words } = await this.parse(declared);
    const { context } = this;
    attend({
      say: (text) => void this.note(text),
      get signal() {
        return context.signal;
      },
    });
    const { env, streams, shell } = context;
    const args = { ...words, ...('file' in words && { file: filesOf(words.file, shell) }) };
    const known = this.ctor.flags ?? {};
    this.given = { flags: withConfiguredDefaults(flags, known, env, streams.stdout.isTTY), args };
    this.checkZone(this.given.flags);
    const { flags: meant, note, isComputersZoneTold } = understood(this.given.flags, known, this.context);
    this.given = { flags: meant, args };
    if (note !== undefined) await this.note(note);
    this.isZoneTold = note !== undefined;
    this.isComputersZoneTold = isComputersZoneTold;
    return this.given;
  }

  /** Throws a Failure (exit 2) for a time zone that is none. */
  protected checkZone(flags: FlagValues): void {
    checkZone(flags);
  }

  /** The client for the connection that flags and environment describe; the same one each time, since a token can be read from standard input only once. */
  protected connect(flags: FlagValues): Promise<ApiClient> {
    this.client ??= this.connections(flags).client();
    return this.client;
  }

  protected connections(flags: FlagValues): Connections {
    this.opened ??= new Connections(this.context, flags, this.config.userAgent, this.notes);
    return this.opened;
  }

  /** A line for people on standard error, unless `--quiet`; with JSON, where a program reads, at the end only. */
  protected async note(text: string): Promise<void> {
    if (!isOn(this.given?.flags ?? {}, 'quiet')) await this.notes.say(text);
  }

  /** Does the work of a command that has `--ping`; throws what it throws. `command`: `molar mirror sync`. */
  protected pinged(
    command: string,
    flags: FlagValues,
    work: (done: () => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const note = (text: string) => this.note(text);
    return pinged({ command, flags, context: this.context, connections: this.connections(flags), note }, work);
  }

  /** Reads dates and times in the zone of this command line; where it names none, a note says which zone was used. */
  protected async inLocalTime<T>(flags: FlagValues, read: (times: LocalTimes) => T): Promise<Awaited<T>> {
    const times = new LocalTimes(flags, this.context.env);
    const value = await read(times);
    const taken = times.note();
    if (taken !== undefined && !this.isZoneTold) await this.note(taken);
    return value;
  }

  /** Where lines for people go. */
  protected get notes(): Notes {
    this.noted ??= new Notes(this.context.streams.stderr, this.wantsJson());
    return this.noted;
  }

  /** Writes data to standard output; to a terminal without control characters but line ends and tabs. */
  protected print(text: string): Promise<void> {
    const { stdout } = this.context.streams;
    return stdout.write(stdout.isTTY ? terminalLines(text) : text);
  }

  /** Nothing: oclif looks here whether the command or a flag is deprecated, for which it reads about every command. */
  protected override async init(): Promise<void> {}

  protected override async catch(error: unknown): Promise<void> {
    const { interrupted, streams, setExitCode } = this.context;
    // The failure of an interrupted run may say how to resume; anything else that a signal caused is noise.
    const cause = isInterruption(error) ? error : (interrupted() ?? error);
    if (cause instanceof ClosedPipe) return setExitCode(0);
    const failure = withNextStep(failureOf(usageFailureOf(cause, this.shape()) ?? cause), this.typed());
    const asJson = this.wantsJson();
    const stack = isOn(this.given?.flags ?? {}, 'verbose') && failure.code === 'run.unexpected' && !asJson;
    const text = asJson
      ? failureJson(failure, this.notes.take())
      : failureText(failure, errorStyle(this.context)) + (stack ? failureStack(failure) : '');
    setExitCode(failure.exitCode);
    await streams.stderr.write(text).catch(() => undefined);
  }

  protected override async finally(): Promise<void> {
    await this.opened?.close();
    await this.noted?.flush();
  }

  private shape(): CommandShape {
    return { name: (this.id ?? '').replaceAll(':', ' '), flagNames: Object.keys(this.ctor.flags ?? {}) };
  }

  private typed(): TypedLine {
    const lines = (this.ctor.examples ?? []).map((example) =>
      typeof example === 'string' ? example : example.command,
    );
    const { shell, streams } = this.context;
    const examples = lines.flatMap(
      (line) => inShell(line.replaceAll('<%= config.bin %>', this.config.bin), shell) ?? [],
    );
    const { emptyRedirection } = streams;
    return { name: this.shape().name, flags: this.given?.flags ?? {}, examples, emptyRedirection, shell };
  }

  private wantsJson(): boolean {
    if (this.given !== undefined)
      return isOn(this.given.flags, 'json') || textFlag(this.given.flags, 'format') === 'json';
    return asksForJson(this.argv, (name) => this.ctor.flags?.[name]?.type === 'option');
  }
}
