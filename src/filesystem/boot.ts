import { system } from './system.ts';

/** Seconds by which the start of a machine may seem to move; none starts twice within them. */
const TOLERANCE = 5;

/** Names what lasts until this machine starts again. What was not synced is whole only for as long. */
export function thisBoot(): string {
  return system.bootId() ?? `at ${system.bootTime().toFixed(0)}`;
}

/** Whether the machine has not started again since `thisBoot` was noted. A clock that was set since makes it false. */
export function isThisBoot(noted: string): boolean {
  const id = system.bootId();
  if (id !== undefined) return noted === id;
  const time = /^at (\d+)$/.exec(noted)?.[1];
  return time !== undefined && Math.abs(Number(time) - system.bootTime()) <= TOLERANCE;
}
