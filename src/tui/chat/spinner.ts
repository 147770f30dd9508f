// The sign that something goes on. It turns only while that is on the screen.

const turns = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

export const spinnerAt = (frame: number): string => turns[frame % turns.length] ?? turns[0];

export const creatingWords = 'Creating session...';
