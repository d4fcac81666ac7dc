import { type FormEvent, type ReactNode, useEffect } from "react";
import { switchLanguage } from "../../base/lazy";
import { type Language, language, languages } from "../../base/words/language";
import css from "./Welcome.module.css";

/** Welcome is the frame of the pages before signing in. */
export function Welcome({ title, onSubmit, children }: { title: string; onSubmit?: () => void; children: ReactNode }) {
	useEffect(() => {
		document.title = `${title} · Packetboat`;
	}, [title]);
	return (
		<main className={css.welcome}>
			<p className={css.brand}>
				<svg viewBox="0 0 32 32" aria-hidden="true">
					<path d="M5 20h22l-4 6H9zM15 5v13H7zM17 8v10h8z" fill="currentColor" />
				</svg>
				Packetboat
			</p>
			<form
				className={css.card}
				noValidate
				onSubmit={(event: FormEvent) => {
					event.preventDefault();
					onSubmit?.();
				}}
			>
				<h1>{title}</h1>
				{children}
			</form>
			<p className={css.languages}>
				{Object.entries(languages)
					.filter(([code]) => code !== language())
					.map(([code, { name }]) => (
						<button key={code} type="button" lang={code} onClick={() => switchLanguage(code as Language)}>
							{name}
						</button>
					))}
			</p>
		</main>
	);
}
