// The beginning: colours, the feed, notifications, and the pages.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { startFollowing } from './live.ts';
import { startNotifying } from './notify.ts';
import { showTheme } from './theme.ts';

showTheme();
startFollowing();
startNotifying();

const place = document.getElementById('app');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
