import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { processInterrupts } from '../../../src/cli/process/interrupts.ts';

// The timer that ends a process by force must not end this one.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout'] }));
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('a request to end is SIGTERM once; asked again, it ends nothing by force, as a second signal does', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const interrupts = processInterrupts();
  try {
    const { signal } = interrupts;
    interrupts.terminate();
    expect(signal.reason).toMatchObject({ code: 'run.terminated', exitCode: 143 });
    interrupts.terminate();
    expect(exit).not.toHaveBeenCalled();
    process.emit('SIGTERM', 'SIGTERM');
    expect(exit).toHaveBeenCalledWith(143);
  } finally {
    interrupts.stop();
  }
});

it('a second SIGHUP, as from a closing terminal, forces nothing; another signal does', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const interrupts = processInterrupts();
  try {
    const { signal } = interrupts;
    for (let times = 0; times < 2; times++) process.emit('SIGHUP', 'SIGHUP');
    expect(signal.reason).toMatchObject({ code: 'run.hung_up', exitCode: 129 });
    expect(exit).not.toHaveBeenCalled();
    process.emit('SIGINT', 'SIGINT');
    expect(exit).toHaveBeenCalledWith(130);
  } finally {
    interrupts.stop();
  }
});
