// The beginning: colours, the feed, notifications, the app, and the pages.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { startInstalling } from './install.ts';
import { startFollowing } from './live.ts';
import { startNotifying } from './notify.ts';
import { showTheme } from './theme.ts';

showTheme();
startFollowing();
startNotifying();
startInstalling();

const place = document.getElementById('app');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
