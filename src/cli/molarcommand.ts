import { Command } from '@oclif/core/command';
import type { Config } from '@oclif/core/config';
import type { ApiClient } from '../core/transport/client.ts';
import { withConfiguredDefaults } from './configdefaults.ts';
import { Connections } from './connections.ts';
import { type Context, contextOf } from './context.ts';
import { type FlagValues, isOn, textFlag } from './flagvalues.ts';
import { failureJson, failureOf, failureStack, failureText } from './report.ts';
import { ClosedPipe } from './streams.ts';
import { asksForJson, type CommandShape, usageFailureOf } from './usageerrors.ts';

/** A command class as it is loaded and started. */
export type MolarCommandClass = new (argv: string[], config: Config) => MolarCommand;

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
  private opened: Connections | undefined;

  protected get context(): Context {
    return contextOf(this.config);
  }

  /** Flags, defaults of `molar config` filled in, and arguments; throws oclif's errors, which `catch` turns into usage failures. */
  protected async input(): Promise<CommandInput> {
    // A line that does not parse is reported by `catch`; oclif would warn on top of it.
    this.parsed = true;
    const { flags, args } = await this.parse(this.ctor);
    const { env, streams } = this.context;
    this.given = { flags: withConfiguredDefaults(flags, this.ctor.flags ?? {}, env, streams.stdout.isTTY), args };
    return this.given;
  }

  /** A client for the connection that flags and environment describe; closed when the command ends. */
  protected connect(flags: FlagValues): Promise<ApiClient> {
    return this.connections(flags).client();
  }

  protected connections(flags: FlagValues): Connections {
    this.opened ??= new Connections(this.context, flags, this.config.userAgent);
    return this.opened;
  }

  /** A line for people on standard error, unless `--quiet`. */
  protected async note(text: string): Promise<void> {
    if (isOn(this.given?.flags ?? {}, 'quiet')) return;
    await this.context.streams.stderr.write(`${text}\n`).catch(() => undefined);
  }

  /** Writes data to standard output. */
  protected print(text: string): Promise<void> {
    return this.context.streams.stdout.write(text);
  }

  protected override async catch(error: unknown): Promise<void> {
    const { interrupted, streams, setExitCode } = this.context;
    const cause = interrupted() ?? error;
    if (cause instanceof ClosedPipe) return setExitCode(0);
    const failure = failureOf(usageFailureOf(cause, this.shape()) ?? cause);
    const asJson = this.wantsJson();
    const stack = isOn(this.given?.flags ?? {}, 'verbose') && failure.code === 'run.unexpected' && !asJson;
    const text = asJson ? failureJson(failure) : failureText(failure) + (stack ? failureStack(failure) : '');
    setExitCode(failure.exitCode);
    await streams.stderr.write(text).catch(() => undefined);
  }

  protected override async finally(): Promise<void> {
    await this.opened?.close();
  }

  private shape(): CommandShape {
    return { name: (this.id ?? '').replaceAll(':', ' '), flagNames: Object.keys(this.ctor.flags ?? {}) };
  }

  private wantsJson(): boolean {
    if (this.given !== undefined)
      return isOn(this.given.flags, 'json') || textFlag(this.given.flags, 'format') === 'json';
    return asksForJson(this.argv, (name) => this.ctor.flags?.[name]?.type === 'option');
  }
}
