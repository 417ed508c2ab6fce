import { describe, expect, it } from 'vitest';
import { isThisBoot, thisBoot } from '../../src/filesystem/boot.ts';
import { replaceSystem } from '../support/othersystem.ts';

describe('the boot of a machine', () => {
  it('is this one until the machine starts again', () => {
    expect(isThisBoot(thisBoot())).toBe(true);
    const noted = thisBoot();
    replaceSystem({ bootId: () => 'another', bootTime: () => 1_800_000_000 });
    expect(isThisBoot(noted)).toBe(false);
  });

  it('is told by the time where the system has no name for it', () => {
    let time = 1_800_000_000.4;
    replaceSystem({ bootId: () => undefined, bootTime: () => time });
    const noted = thisBoot();
    time += 4;
    expect(isThisBoot(noted)).toBe(true);
    time += 20;
    expect(isThisBoot(noted)).toBe(false);
    time -= 20;
    // A time alone is no proof where the system has a name.
    replaceSystem({ bootId: () => 'another' });
    expect(isThisBoot(noted)).toBe(false);
  });

  it('is not what no boot was ever called', () => {
    replaceSystem({ bootId: () => undefined });
    expect(['', 'at', 'at x', '7c1b'].map(isThisBoot)).toEqual([false, false, false, false]);
  });
});
