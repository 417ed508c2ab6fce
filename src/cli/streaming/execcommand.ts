import { spawn } from 'node:child_process';
import type { StreamMessage } from '../../catalog/stream/messages.ts';
import type { Environment } from '../../core/environment.ts';
import { NotAccepted } from '../../core/stream/forward.ts';

/**
 * Runs a command line by the shell with the message on its standard input; its output goes where ours goes. Throws
 * NotAccepted unless it exits with 0. When the signal aborts it is ended first, then the reason is thrown.
 */
export async function execMessage(
  line: string,
  message: StreamMessage,
  text: string,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(line, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...env, ...messageVariables(message) },
  });
  const stop = () => child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  try {
    const ended = new Promise<string | undefined>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, name) => resolve(code === 0 ? undefined : (name ?? `exit code ${code}`)));
    });
    // A command that does not read its input may end before all of it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${text}\n`);
    const problem = await ended;
    if (problem === undefined) return;
    signal.throwIfAborted();
    throw new NotAccepted(`The command ended with ${problem}.`);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** What a command may want to know before it reads the message. */
function messageVariables({ id, routingKey, domainType, operation, payload }: StreamMessage): Record<string, string> {
  return {
    MOLAR_MESSAGE_ID: String(id),
    MOLAR_MESSAGE_ROUTING_KEY: routingKey,
    MOLAR_MESSAGE_DOMAIN_TYPE: domainType,
    MOLAR_MESSAGE_OPERATION: operation,
    MOLAR_MESSAGE_RECORD_ID: payload.id === undefined || payload.id === null ? '' : String(payload.id),
  };
}
