import type { Server, Socket } from 'node:net';

/** Milliseconds in which a reader takes something of an answer that waits for it (contract §8). */
const STALL_MS = 30_000;

/** How often in that time a connection is looked at. */
const LOOKS = 12;

/** Since when a connection has taken nothing, milliseconds of the process's clock. */
interface Stall {
  readonly since: number;
  /** When it was last looked at, and how many bytes it had taken by then, whole writes only. */
  readonly seen: number;
  readonly taken: number;
}

/**
 * Closes connections whose reader takes nothing of an answer for `stallMs`. Node calls a connection silent when for some
 * time nothing came and not even a part of a write was taken; such times that follow each other make a stall. A connection
 * that waits for its answer is silent, too, and stays open; so is one without a request, which ends by its own timeout.
 */
export function closeStalled(
  server: Server & { setTimeout(milliseconds: number, callback: (socket: Socket) => void): unknown },
  stallMs = STALL_MS,
): void {
  const lookMs = stallMs / LOOKS;
  const stalls = new WeakMap<Socket, Stall>();
  server.setTimeout(lookMs, (socket) => {
    // The timeout of a connection that is kept open for another request.
    if (socket.timeout !== lookMs) return socket.destroy();
    const now = performance.now();
    const taken = socket.bytesWritten - socket.writableLength;
    const before = stalls.get(socket);
    // A part that was taken makes Node look again later, without a word.
    const goesOn = before !== undefined && now - before.seen < lookMs * 1.5 && before.taken === taken;
    const since = goesOn ? before.since : now - lookMs;
    if (socket.writableLength > 0 && now - since >= stallMs) return socket.destroy();
    if (socket.writableLength > 0) stalls.set(socket, { since, seen: now, taken });
    else stalls.delete(socket);
    return socket.setTimeout(lookMs);
  });
}
