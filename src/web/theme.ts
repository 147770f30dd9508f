// Light, dark, or as the system: kept in this browser, and set before the first picture.

import { keep, kept } from './port.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export function chosenTheme(): Theme {
  const text = kept('theme');
  return themes.find((theme) => theme === text) ?? 'system';
}

export function setTheme(theme: Theme): void {
  keep('theme', theme === 'system' ? null : theme);
  showTheme();
}

export function showTheme(): void {
  const theme = chosenTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
