// What an agent has printed, apart from the parts of its screen that move by themselves. Pure.

/** Spinners, counters and clocks; a line with an ellipsis says what is going on. */
const moving = /[\d⠀-⣿◐◑◒◓✢✶✻✽✳·*•○●◉⬝■]/gu;

/** Lines at the bottom that belong to the prompt and its footers. */
const chromeLines = 6;

export function outputOf(lines: readonly string[]): string {
  const filled = lines.filter((line) => line.trim() !== '');
  return filled
    .slice(0, -chromeLines)
    .filter((line) => !line.includes('…'))
    .map((line) => line.replace(moving, ''))
    .join('\n');
}
