import { isPlainObject } from '../../catalog/fields/kind.ts';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { Failure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';

/** What a connection to a stream yields. */
export type StreamItem =
  /** It is connected; messages after `position` follow, where that is known. */
  | { readonly kind: 'opened'; readonly position: string | undefined }
  | {
      readonly kind: 'message';
      readonly message: StreamMessage;
      /** The message as received, JSON on one line. */
      readonly text: string;
      /** Where to begin to get what follows it. */
      readonly position: string;
      /** To be called once the message is handled: a later connection begins after it. */
      readonly handled: () => void;
    }
  /** A heartbeat: every requested message up to `position` was received, where that is known. */
  | { readonly kind: 'seen'; readonly position: string | undefined };

/** Where messages come from. */
export interface StreamSource {
  /**
   * Connects once, after the last handled message, and yields until the connection ends. Throws `ConnectionLost` when
   * another attempt may help, a Failure when none can, and the signal's reason.
   */
  readonly connect: (signal: AbortSignal) => AsyncGenerator<StreamItem, void>;
}

/** A connection that could not be made or broke; another attempt may help. */
export class ConnectionLost extends Error {
  /** Milliseconds that the other side asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(
    /** What to report without another attempt. */
    readonly failure: Failure,
    retryAfter?: number,
  ) {
    super(failure.message);
    this.name = 'ConnectionLost';
    this.retryAfter = retryAfter;
  }
}

/** A connection on which nothing came for too long. */
export class ConnectionSilent extends ConnectionLost {}

const TEXTS = ['routingKey', 'organizationId', 'locationId', 'domainType', 'operation', 'sendTime'] as const;

/** A message and its JSON on one line; undefined for a text that is not a message of the stream (D40). */
export function readMessage(text: string): { readonly message: StreamMessage; readonly text: string } | undefined {
  const value = jsonOf(text);
  if (!isPlainObject(value)) return undefined;
  const { id, correlationId, payload } = value;
  const isComplete =
    Number.isSafeInteger(id) &&
    (id as number) >= 0 &&
    TEXTS.every((name) => typeof value[name] === 'string') &&
    (typeof correlationId === 'string' || correlationId === null || correlationId === undefined) &&
    isPlainObject(payload);
  if (!isComplete) return undefined;
  const message = { ...value, correlationId: correlationId ?? null } as unknown as StreamMessage;
  return { message, text: /[\r\n]/.test(text) ? JSON.stringify(value) : text };
}
