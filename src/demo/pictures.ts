import { grayPng } from './png.ts';
import type { Random } from './random.ts';

/** A picture that looks a little like an X-ray: two rows of bright teeth on a dark ground. */
export function radiograph([width, height]: readonly [number, number], random: Random): Buffer {
  const tooth = random.between(9, 15);
  const shift = random.below(tooth);
  const gum = Math.floor(height / 2);
  const glow = random.between(150, 210);
  return grayPng(width, height, (x, y) => {
    const across = Math.abs(((x + shift) % tooth) - tooth / 2) / (tooth / 2);
    const away = Math.abs(y - gum);
    const inTooth = across < 0.8 && away > 2 && away < height * 0.4 - across * 4;
    return inTooth ? glow + ((x * 7 + y * 13) % 40) : 24 + ((x * 3 + y * 5) % 30);
  });
}

/** Lines of pocket depths in millimetres, tooth by tooth. */
export function dentalChart(random: Random): string[] {
  return Array.from({ length: 4 }, (_, quadrant) => {
    const depths = Array.from({ length: 8 }, () => random.between(1, 5)).join(' ');
    return `Quadrant ${quadrant + 1}: ${depths}`;
  });
}
