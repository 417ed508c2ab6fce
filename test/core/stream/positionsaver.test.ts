import { describe, expect, it, vi } from 'vitest';
import { PositionSaver } from '../../../src/core/stream/positions.ts';

describe('PositionSaver', () => {
  it('saves each position at once without a pause', async () => {
    const saved: string[] = [];
    const keeper = new PositionSaver(async (position) => void saved.push(position), 0);
    for (const position of ['5', '6', '6', '3']) await keeper.advance(position);
    await keeper.flush();
    expect(saved).toEqual(['5', '6', '3']);
  });

  it('saves where it begins at once, then the newest of a pause, and the rest at the end', async () => {
    vi.useFakeTimers();
    try {
      const saved: string[] = [];
      const keeper = new PositionSaver(async (position) => void saved.push(position), 250);
      await keeper.start('4');
      expect(saved).toEqual(['4']);
      // However steadily they come.
      for (const position of ['5', '6', '7']) {
        await keeper.advance(position);
        await vi.advanceTimersByTimeAsync(80);
      }
      expect(saved).toEqual(['4']);
      await vi.advanceTimersByTimeAsync(10);
      expect(saved).toEqual(['4', '7']);
      await keeper.advance('8');
      await keeper.flush();
      expect(saved).toEqual(['4', '7', '8']);
      expect(vi.getTimerCount()).toBe(0);
      await vi.advanceTimersByTimeAsync(1000);
      await keeper.flush();
      expect(saved).toEqual(['4', '7', '8']);
      await keeper.advance('9');
      await vi.advanceTimersByTimeAsync(250);
      expect(saved).toEqual(['4', '7', '8', '9']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('saves one after the other', async () => {
    const steps: string[] = [];
    const keeper = new PositionSaver(async (position) => {
      steps.push(`begin ${position}`);
      await new Promise(setImmediate);
      steps.push(`end ${position}`);
    }, 0);
    await Promise.all([keeper.advance('1'), keeper.advance('2')]);
    expect(steps).toEqual(['begin 2', 'end 2']);
    await Promise.all([keeper.advance('3').then(() => keeper.advance('4')), keeper.flush()]);
    expect(steps.slice(2)).toEqual(['begin 3', 'end 3', 'begin 4', 'end 4']);
  });

  it('saves at the end what could not be saved before', async () => {
    const saved: string[] = [];
    let failing = true;
    const keeper = new PositionSaver(async (position) => {
      if (failing) throw new Error('disk full');
      saved.push(position);
    }, 0);
    await expect(keeper.start('1')).rejects.toThrow('disk full');
    failing = false;
    await keeper.flush();
    expect(saved).toEqual(['1']);
  });

  it('fails the next message when a save failed meanwhile', async () => {
    vi.useFakeTimers();
    try {
      const keeper = new PositionSaver(() => Promise.reject(new Error('disk full')), 250);
      await keeper.advance('1');
      await vi.advanceTimersByTimeAsync(250);
      expect(String(await keeper.advance('2').catch((cause: unknown) => cause))).toBe('Error: disk full');
    } finally {
      vi.useRealTimers();
    }
  });
});
