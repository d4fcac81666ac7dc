import { useEffect, useRef } from "react";
import { switchLanguage } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { chosenLanguage, type Language, languages } from "../../base/words/language";
import { Radios } from "../../ui/Field";

const words = catalogue("settings.languageChoice", {
	language: "Language",
	browser: "Browser language",
});

/** Whether the page is a new one because a language was chosen: the focus then goes back to the choice. */
let justChosen = false;

/** LanguageChoice chooses the language of the application on this device. */
export function LanguageChoice() {
	const container = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (justChosen) container.current?.querySelector<HTMLInputElement>("input:checked")?.focus();
		justChosen = false;
	}, []);
	return (
		<div ref={container}>
			<Radios
				label={words.language}
				value={chosenLanguage() ?? ""}
				onChange={(code) => {
					justChosen = true;
					switchLanguage(code === "" ? null : (code as Language));
				}}
				choices={[
					{ value: "", label: words.browser },
					...Object.entries(languages).map(([value, { name }]) => ({ value, label: <span lang={value}>{name}</span> })),
				]}
			/>
		</div>
	);
}
