import { usageFailure } from '../../core/failure.ts';
import { nearest } from '../../core/nearest.ts';
import { unoffered } from '../errors/unoffered.ts';
import { MolarCommand } from '../molarcommand.ts';
import { resolveCommand, showHelp, WIDEST, WIDTH } from '../startup/resolution.ts';
import { writePaged } from '../terminal/pager.ts';
import { PAGES, readPage } from './pages.ts';
import { pageText } from './text.ts';

/** Shows a page, the help of a command or topic, or everything there is. Throws a Failure (exit 2) for unknown words. */
export abstract class HelpCommand extends MolarCommand {
  override async run(): Promise<void> {
    await this.input();
    const words = this.argv.filter((word) => word !== '--');
    const width = Math.min(this.context.streams.stdout.columns ?? WIDTH, WIDEST);
    const page = words.length === 1 ? PAGES.find(({ name }) => name === words[0]) : undefined;
    const { streams, shell } = this.context;
    if (page !== undefined) return writePaged(streams, pageText(readPage(this.config.root, page), width, shell));
    this.refuseUnknown(words);
    await showHelp(words, this.config);
  }

  private refuseUnknown(words: readonly string[]): void {
    const { config } = this;
    const subject = words.join(':');
    const missing = unoffered(words);
    if (missing !== undefined) throw usageFailure(missing.message, { hint: missing.hint });
    if (subject === '' || resolveCommand(words, config).id !== undefined || config.findTopic(subject)) return;
    const shown = config.commands.filter((command) => !command.hidden);
    const commands = shown.flatMap(({ id, aliases }) => [id, ...aliases]).map((id) => id.replaceAll(':', ' '));
    const topics = [...commands, ...config.topics.map(({ name }) => name.replaceAll(':', ' '))];
    const typed = words.join(' ');
    const near =
      commands.find((name) => name.startsWith(`${typed} `)) ??
      nearest(typed, [...PAGES.map(({ name }) => name), ...topics]);
    throw usageFailure(`There is no help on that.${near === undefined ? '' : ` Did you mean molar help ${near}?`}`, {
      hint: 'molar help lists commands and topics.',
    });
  }
}
