import { DEFAULT_EXCHANGE, type StreamMessage } from '../../catalog/stream/messages.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { readBroker } from '../../core/stream/amqpaddress.ts';
import { type FollowOptions, follow } from '../../core/stream/follow.ts';
import { HttpSource } from '../../core/stream/httpsource.ts';
import { listen, type MessageHandler } from '../../core/stream/listen.ts';
import type { StreamSource } from '../../core/stream/source.ts';
import { DEFAULT_RETRY } from '../../core/transport/retry.ts';
import { readCertificates } from '../connections.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { zoneText } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { checkKeys } from './keys.ts';
import { type ListenWishes, readListenWishes } from './listenflags.ts';
import { messagePrinter } from './messageprinter.ts';
import { lostText, otherKeysText, resyncText } from './notices.ts';
import { holdPosition, type KeptPosition } from './savedcursor.ts';
import { handerOn } from './takers.ts';

/** Milliseconds between saves of the position where messages are only printed: those in between may be printed twice. */
const SAVE_PAUSE = 250;

/** What a listener listens to. */
interface Origin {
  readonly source: StreamSource;
  readonly kept?: KeptPosition | undefined;
}

/** Follows the stream until it is stopped (contract §2; D42): prints messages, or hands each one on. */
export abstract class ListenCommand extends MolarCommand {
  static override usage = '<%= command.id %> [FLAGS]';

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    // A default of `molar config` is for requests: it must not end a listener that is to run for ever.
    const isGiven = this.argv.some((text) => /^--max-retries(=|$)/.test(text));
    const own = isGiven ? flags : { ...flags, 'max-retries': undefined };
    const wishes = readListenWishes(own, context.streams.stdout.isTTY);
    try {
      await this.listen(flags, wishes);
    } catch (cause) {
      // That is how listening usually ends: it is no error.
      const stopped = context.interrupted();
      if (stopped === undefined) throw cause;
      context.setExitCode(stopped.exitCode);
    }
  }

  private async listen(flags: FlagValues, wishes: ListenWishes): Promise<void> {
    const { context } = this;
    const { limit, format, maxRetries } = wishes;
    const note = (text: string) => this.note(text);
    const network = () => this.connections(flags).network();
    const hander = handerOn(flags, { context, userAgent: this.config.userAgent, network, maxRetries, note });
    const printer = format === undefined ? undefined : await messagePrinter(format, flags, context);
    if (format === 'table') await note(`${zoneText(flags, context)}.`);
    const handlers: MessageHandler[] = [hander, printer?.take].filter((take) => take !== undefined);
    const { source, kept } = await this.origin(flags, wishes, hander !== undefined);
    let failure: unknown;
    try {
      await listen(follow(source, this.following(maxRetries)), {
        ...{ handlers, limit, positionSaver: kept?.keeper, isNew: kept !== undefined && kept.known === undefined },
        onOpened: () => this.onOpened(),
        onResync: (message) => this.sayMissing(message),
      });
    } catch (cause) {
      failure = cause;
      throw cause;
    } finally {
      await kept?.release();
      await printer?.end(context.interrupted() === undefined ? failure : undefined);
    }
  }

  private async origin(flags: FlagValues, wishes: ListenWishes, handsOn: boolean): Promise<Origin> {
    const { context } = this;
    const amqp = textFlag(flags, 'amqp');
    if (amqp !== undefined) return { source: await this.broker(amqp, flags, wishes) };
    const { baseUrl: url, organization } = readSettings(readConnectionFlags(flags), context.env);
    const keys = checkKeys(wishes.keys, organization);
    const client = await this.connect(flags);
    const place = wishes.name === undefined ? undefined : { name: wishes.name, url, organization };
    const kept = place && (await holdPosition(place, keys, handsOn ? 0 : SAVE_PAUSE, context));
    if (kept?.known !== undefined) {
      await this.note(`Going on behind message ${kept.known.position}.`);
      const other = otherKeysText(kept.known.keys, keys);
      if (other !== undefined) await this.note(other);
    }
    const after = kept?.known?.position ?? wishes.from;
    return { source: new HttpSource(client, { keys, after, now: context.clock.now }), kept };
  }

  private async broker(address: string, flags: FlagValues, { keys, name }: ListenWishes): Promise<StreamSource> {
    const { env } = this.context;
    const broker = readBroker(address, { allowHttp: isOn(flags, 'allow-http'), password: env.MOLAR_AMQP_PASSWORD });
    const exchange = textFlag(flags, 'exchange') ?? broker.exchange ?? DEFAULT_EXCHANGE;
    const certificates = await readCertificates(textFlag(flags, 'ca-cert'), env.NODE_EXTRA_CA_CERTS);
    const onForeign = (routingKey: string) =>
      void this.note(
        `Warning: what came with the routing key ${routingKey} is no message of the stream; it is dropped.`,
      );
    const { AmqpSource } = await import('../../core/stream/amqpsource.ts');
    return new AmqpSource({ broker, exchange, keys: checkKeys(keys, undefined), name, certificates, onForeign });
  }

  private isLost = false;

  private following(maxRetries: number | undefined): FollowOptions {
    const { clock, random, signal } = this.context;
    return {
      ...{ clock, random, signal, maxRetries, policy: DEFAULT_RETRY },
      onLost: (notice) => {
        this.isLost = true;
        void this.note(lostText(notice));
      },
    };
  }

  private onOpened(): void {
    if (this.isLost) void this.note('Connected again.');
    this.isLost = false;
  }

  /** Is said with `--quiet` too: whoever keeps a copy has to know. */
  private async sayMissing(message: StreamMessage): Promise<void> {
    await this.context.streams.stderr.write(`${resyncText(message)}\n`).catch(() => undefined);
  }
}
