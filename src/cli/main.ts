import type { Config } from '@oclif/core/config';
import { type Context, processContext, setContext } from './context.ts';
import { failureJson, failureOf, failureText } from './errors/report.ts';
import { asksForJson, noCommand } from './errors/usage.ts';
import { processInterrupts } from './process/interrupts.ts';
import { ManifestConfig } from './startup/manifestconfig.ts';
import { commandNames, helpWords, leadingWords, resolveCommand, showHelp, WIDTH } from './startup/resolution.ts';
import { errorStyle } from './terminal/style.ts';

/**
 * Runs one command line in this process; `root` is the folder of the package. Sets the exit code and lets output
 * drain instead of exiting, except after a signal, when nobody may be left to read it.
 */
export async function main(argv: readonly string[], root: string): Promise<void> {
  const interrupts = processInterrupts();
  const context = processContext(interrupts);
  const fail = (error: unknown) => reportFailure(error, argv, context);
  process.once('uncaughtException', (error) => void fail(error).finally(() => process.exit()));
  try {
    const config = new ManifestConfig(root);
    setContext(config, context);
    await dispatch(argv, config, context);
  } catch (error) {
    await fail(error);
  }
  interrupts.stop();
  if (interrupts.failure() !== undefined) process.exit();
}

async function reportFailure(error: unknown, argv: readonly string[], context: Context): Promise<void> {
  const failure = failureOf(error);
  context.setExitCode(failure.exitCode);
  const text = asksForJson(argv, () => false) ? failureJson(failure) : failureText(failure, errorStyle(context));
  await context.streams.stderr.write(text).catch(() => undefined);
}

const HELP_FLAGS = ['--help', '-h'];
const VERSION_FLAGS = ['--version', '-v', '-V'];

async function showStanding({ streams: { stdout }, env }: Context): Promise<void> {
  const { standingText } = await import('./account/standing.ts');
  await stdout.write(standingText(env, stdout.columns || WIDTH));
}

interface Startable {
  readonly start: (argv: readonly string[], config: Config) => Promise<void>;
}

async function dispatch(argv: readonly string[], config: Config, context: Context): Promise<void> {
  if (VERSION_FLAGS.includes(argv[0] ?? '')) return context.streams.stdout.write(`${config.userAgent}\n`);
  const words = leadingWords(argv);
  const { id, rest } = resolveCommand(words, config);
  const own = argv.slice(words.length);
  const dashes = own.indexOf('--');
  const wantsHelp = own.slice(0, dashes < 0 ? own.length : dashes).some((token) => HELP_FLAGS.includes(token));
  if (id === undefined && own.length > 0 && !wantsHelp) throw noCommand(words, commandNames(config));
  // Without a command there is only help to give; for words that name nothing it is refused.
  if (wantsHelp) return showHelp(helpWords(words, config), config);
  if (argv.length === 0 && context.streams.stdout.isTTY) return showStanding(context);
  if (id === undefined) return showHelp(words, config);
  const command = (await config.findCommand(id, { must: true }).load()) as unknown as Startable;
  await command.start([...rest, ...own], config);
}
