import { join } from 'node:path';
import { DEFAULT_EXCHANGE, type StreamMessage } from '../../catalog/stream/messages.ts';
import { readSettings } from '../../core/connection/settings.ts';
import { holdLock } from '../../core/lockfile.ts';
import { FORMATS } from '../../core/output/formats.ts';
import { configFolder } from '../../core/profiles/config.ts';
import { readBroker } from '../../core/stream/amqpaddress.ts';
import { type FollowOptions, follow } from '../../core/stream/follow.ts';
import { HttpSource } from '../../core/stream/httpsource.ts';
import { listen, type MessageHandler } from '../../core/stream/listen.ts';
import { type NamedPosition, type PositionKey, PositionSaver, PositionStore } from '../../core/stream/positions.ts';
import type { StreamSource } from '../../core/stream/source.ts';
import { DEFAULT_RETRY } from '../../core/transport/retry.ts';
import { readCertificates } from '../connections.ts';
import type { Context } from '../context.ts';
import { readConnectionFlags } from '../flags/connection.ts';
import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import { zoneText } from '../flags/zone.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { messageHandler } from './handlers.ts';
import { checkKeys } from './keys.ts';
import { type ListenOptions, listenFlags, readListenOptions } from './listenflags.ts';
import { messagePrinter } from './messageprinter.ts';
import { lostText, otherKeysText, resyncText } from './notices.ts';

/** Milliseconds between saves of the position where messages are only printed: those in between may be printed twice. */
const SAVE_PAUSE = 250;

/** The stream that is followed, and the saved position in it. */
interface Origin {
  readonly source: StreamSource;
  readonly saved?: SavedPosition | undefined;
}

/** Follows the stream until it is interrupted (contract §2; D42): prints messages, or passes each to a handler. */
export abstract class ListenCommand extends MolarCommand {
  static override usage = '<%= command.id %> [FLAGS]';
  static override flags = listenFlags;

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { context } = this;
    // A default of `molar config` is for requests: it must not end a listener.
    const isGiven = this.argv.some((text) => /^--max-retries(=|$)/.test(text));
    const own = isGiven ? flags : { ...flags, 'max-retries': undefined };
    const options = readListenOptions(own, context.streams.stdout.isTTY);
    try {
      await this.listen(flags, options);
    } catch (cause) {
      // Listening usually ends by a signal: that is no error.
      const interrupted = context.interrupted();
      if (interrupted === undefined) throw cause;
      context.setExitCode(interrupted.exitCode);
    }
  }

  private async listen(flags: FlagValues, options: ListenOptions): Promise<void> {
    const { context } = this;
    const { limit, format, maxRetries } = options;
    const note = (text: string) => this.note(text);
    const network = () => this.connections(flags).network();
    const handler = messageHandler(flags, { context, userAgent: this.config.userAgent, network, maxRetries, note });
    const printer = format === undefined ? undefined : await messagePrinter(format, flags, context);
    if (format !== undefined && FORMATS[format].isForPeople) await note(`${zoneText(flags, context)}.`);
    const handlers: MessageHandler[] = [handler, printer?.take].filter((take) => take !== undefined);
    const { source, saved } = await this.origin(flags, options, handler !== undefined);
    let failure: unknown;
    try {
      await listen(follow(source, this.following(maxRetries)), {
        ...{ handlers, limit, positionSaver: saved?.saver, isNew: saved?.known === undefined },
        onOpened: () => this.onOpened(),
        onResync: (message) => this.warnMissing(message),
      });
    } catch (cause) {
      failure = cause;
      throw cause;
    } finally {
      await saved?.release();
      await printer?.end(context.interrupted() === undefined ? failure : undefined);
    }
  }

  private async origin(flags: FlagValues, options: ListenOptions, hasHandler: boolean): Promise<Origin> {
    const { context } = this;
    const amqp = textFlag(flags, 'amqp');
    if (amqp !== undefined) return { source: await this.broker(amqp, flags, options) };
    const { baseUrl: url, organization } = readSettings(readConnectionFlags(flags), context.env);
    const keys = checkKeys(options.keys, organization);
    const client = await this.connect(flags);
    const listener = options.name === undefined ? undefined : { name: options.name, url, organization };
    const saved = listener && (await lockPosition(listener, keys, hasHandler ? 0 : SAVE_PAUSE, context));
    if (saved?.known !== undefined) {
      await this.note(`Resuming after message ${String(saved.known.position).replace(/^.*-/, '')}.`);
      const other = otherKeysText(saved.known.keys, keys);
      if (other !== undefined) await this.note(other);
    }
    const after = saved?.known === undefined ? options.from : String(saved.known.position);
    return { source: new HttpSource(client, { keys, after, now: context.clock.now }), saved };
  }

  private async broker(address: string, flags: FlagValues, { keys, name }: ListenOptions): Promise<StreamSource> {
    const { env } = this.context;
    const broker = readBroker(address, { allowHttp: isOn(flags, 'allow-http'), password: env.MOLAR_AMQP_PASSWORD });
    const exchange = textFlag(flags, 'exchange') ?? broker.exchange ?? DEFAULT_EXCHANGE;
    const certificates = await readCertificates(textFlag(flags, 'ca-cert'), env.NODE_EXTRA_CA_CERTS);
    const onForeign = (routingKey: string) =>
      void this.note(`Warning: a message with the routing key ${routingKey} is not a stream message and was dropped.`);
    const { AmqpSource } = await import('../../core/stream/amqpsource.ts');
    return new AmqpSource({ broker, exchange, keys: checkKeys(keys, undefined), name, certificates, onForeign });
  }

  private wasLost = false;

  private following(maxRetries: number | undefined): FollowOptions {
    const { clock, random, signal } = this.context;
    return {
      ...{ clock, random, signal, maxRetries, policy: DEFAULT_RETRY },
      onLost: (notice) => {
        this.wasLost = true;
        void this.note(lostText(notice));
      },
    };
  }

  private onOpened(): void {
    // From then on each connection that opens takes the place of one that was lost.
    if (this.wasLost) void this.note('Reconnected.');
  }

  /** Warns with `--quiet` too: a copy of the records is out of date. */
  private async warnMissing(message: StreamMessage): Promise<void> {
    await this.context.streams.stderr.write(`${resyncText(message)}\n`).catch(() => undefined);
  }
}

/** The position of a listener with a name, held by this process alone. */
interface SavedPosition {
  /** Undefined at the first start. */
  readonly known: NamedPosition | undefined;
  readonly saver: PositionSaver;
  /** Saves what is not saved yet and releases the lock. */
  readonly release: () => Promise<void>;
}

/** Locks a named position, saved every `pause` milliseconds; throws a Failure (exit 9) when another listener holds it. */
async function lockPosition(
  listener: PositionKey,
  keys: readonly string[],
  pause: number,
  { env, clock }: Context,
): Promise<SavedPosition> {
  const positions = new PositionStore(join(configFolder(env), 'streams'));
  const what = `The position of the listener ${listener.name}`;
  const unlock = await holdLock(await positions.lockPath(listener), what, lockOwner(clock));
  try {
    const known = await positions.read(listener);
    const saver = new PositionSaver((position) => {
      const movedAt = new Date(clock.now()).toISOString();
      return positions.write({ version: 1, ...listener, keys, position, movedAt });
    }, pause);
    return { known, saver, release: () => saver.flush().finally(unlock) };
  } catch (cause) {
    await unlock();
    throw cause;
  }
}
