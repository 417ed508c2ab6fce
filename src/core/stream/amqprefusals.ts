import { EXIT } from '../../catalog/failures.ts';
import { codeOf, Failure, LOCAL_FAILURES, localFailure } from '../failure.ts';
import { ConnectionLost } from './source.ts';

interface Asked {
  /** The broker, without its password. */
  readonly shown: string;
  readonly exchange: string;
  readonly name: string | undefined;
  /** This listener was served before: what stands in its way may be its own connection that broke. */
  readonly stoodBefore: boolean;
}

/**
 * Why a broker does not serve, from what amqplib throws: a Failure for what is refused (login: exit 3, no such
 * exchange: 4, a queue in use: 9), `Lost` for everything else. The text of the address never comes in.
 */
export function brokerFailure(cause: unknown, { shown, exchange, name, stoodBefore }: Asked): unknown {
  if (cause instanceof Failure || cause instanceof ConnectionLost) return cause;
  const text = cause instanceof Error ? cause.message : '';
  const refused = (message: string, exitCode: number) =>
    new Failure(message, { code: 'stream.broker', exitCode, hint: LOCAL_FAILURES['stream.broker'].next, cause });
  if (/in exclusive use/.test(text) && !stoodBefore) {
    return refused(`Another listener named ${name} is at work: its queue on ${shown} is in use.`, EXIT.file);
  }
  if (/\b403\b.*Login was refused/.test(text)) return refused(`${shown} does not accept user and password.`, EXIT.auth);
  if (/\b404\b.*no exchange/.test(text)) return refused(`There is no exchange ${exchange} on ${shown}.`, EXIT.notFound);
  if (/\b403\b/.test(text) && !/in exclusive use/.test(text)) {
    return refused(`${shown} does not allow it: ${text}`, EXIT.auth);
  }
  if (/\b406\b/.test(text))
    return refused(`The queue of ${name} on ${shown} was made in another way: ${text}`, EXIT.refused);
  return new ConnectionLost(localFailure('stream.broker', `${shown}: ${reasonOf(text, codeOf(cause))}`, { cause }));
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there.',
  ENOTFOUND: 'there is no such host.',
  ECONNRESET: 'the connection was cut.',
  ETIMEDOUT: 'the connection timed out.',
};

function reasonOf(text: string, code: string | undefined): string {
  return REASONS[code ?? ''] ?? (text === '' ? 'the connection was closed.' : text);
}
